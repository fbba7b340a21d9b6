"""What the server has beside its tools: documents, chunks and the state of the index, by URI."""
