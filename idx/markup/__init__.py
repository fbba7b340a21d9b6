"""Extraction of markup: HTML, Markdown, EPUB and e-mail."""
