"""Search in an index folder: what of ranking only Lucene's searchers can tell."""
