"""Execution of a search request: ranking, filters, facets, highlighting, explanation."""

import shared.java  # noqa: F401 - makes the packages org and java importable
