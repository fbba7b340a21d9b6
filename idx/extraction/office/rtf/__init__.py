"""Extraction of the Rich Text Format."""
