"""Reports of an evaluation: text, HTML, pictures."""
