"""Analysis of text into terms, the same for indexing and searching."""
