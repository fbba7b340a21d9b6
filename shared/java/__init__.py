"""The Java virtual machine: its start, its start-up cache, and work in it that can be stopped."""

import lucene  # noqa: F401 - makes the packages org and java importable
