"""Reading an index: the searcher and everything it answers."""

import shared.java  # noqa: F401 - makes the packages org and java importable
