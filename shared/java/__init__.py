"""The Java virtual machine: its start, its start-up cache, and the cancellation of work in it."""

import lucene  # noqa: F401 - makes the packages org and java importable
