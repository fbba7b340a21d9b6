"""Text that OCR has read on pages, with the places of its words, and a cache of it in the index."""
