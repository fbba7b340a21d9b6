"""What is sent back: errors, the budget of an answer, and tags around texts of documents."""
