"""Analysis of text into terms, the same for indexing and searching."""

import shared.java  # noqa: F401 - makes the packages org and java importable
