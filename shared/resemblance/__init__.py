"""Versions of the same text in an index."""

import shared.java  # noqa: F401 - makes the packages org and java importable
