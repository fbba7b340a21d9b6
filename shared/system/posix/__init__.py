"""Calls of Linux and macOS."""
