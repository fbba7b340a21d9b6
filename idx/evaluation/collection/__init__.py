"""Test collections: documents, queries and judgements."""
