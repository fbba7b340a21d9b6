"""From a request to its answer: ranking, filters, facets, highlighting, explanation."""

import shared.java  # noqa: F401 - makes the packages org and java importable
