"""Calls of Windows."""
