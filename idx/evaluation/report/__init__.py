"""Reports of an evaluation: text, HTML, plots."""
