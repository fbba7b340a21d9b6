"""Extraction of PDF: text, tables, forms and properties."""
