"""Bundles (MCPB) with everything inside: Python, Java, Lucene, the programs; `make bundles`."""
