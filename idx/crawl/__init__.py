"""Crawl of a folder: selection of its files, opened without following links."""
