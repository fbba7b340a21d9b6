"""Plain text: encodings, cleaning and properties."""
