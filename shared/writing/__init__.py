"""Writing to an index: documents, commits, and creation."""

import shared.java  # noqa: F401 - makes the packages org and java importable
