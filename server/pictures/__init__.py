"""Pages of documents as pictures, with the words of a query marked, made in worker processes."""
