"""Writing to an index: documents, commits, and creating one."""

import shared.java  # noqa: F401 - makes the packages org and java importable
