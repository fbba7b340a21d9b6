"""Resources: documents, chunks and the state of the index, by URI."""
