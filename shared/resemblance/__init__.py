"""Versions of the same text in an index."""
