"""Command line `idx`, which writes and searches the index."""
