"""Plain data without Lucene: documents, chunks, folders, requests and results."""
