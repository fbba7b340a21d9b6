"""The package mcp-lucene-e5, which is the sentence model that searches use by default."""
