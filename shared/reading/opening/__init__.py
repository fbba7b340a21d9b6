"""Indexes in folders that are open for reading: whole, and in parts."""
