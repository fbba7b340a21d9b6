"""Texts of hits: the passages that match, and how words are written in them."""
