"""Plain data: documents, chunks, folders, requests and results. Nothing here imports Lucene."""
