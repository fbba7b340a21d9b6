"""Plain text: encodings, cleaning, properties, and detection of secrets."""
