"""Text extraction: a module for each format, run in worker processes under limits."""
