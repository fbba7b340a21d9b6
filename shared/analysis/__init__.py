"""How text becomes terms, at indexing and at search time alike."""
