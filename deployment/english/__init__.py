"""The package mcp-lucene-english, a sentence model that knows English better than e5 does."""
