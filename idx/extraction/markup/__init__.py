"""Markup: HTML, Markdown, EPUB and mail."""
