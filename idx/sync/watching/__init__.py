"""Watching folders, whose changes are followed into the index."""
