"""Chunks of documents: how texts are cut, and where each chunk stands."""
