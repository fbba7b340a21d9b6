"""Hits together: those of one document, and documents that are versions of the same text."""
