"""What is found, and in which order: queries on a small library of our own documents."""
