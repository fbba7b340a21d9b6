"""PDF: text, tables, forms and properties."""
