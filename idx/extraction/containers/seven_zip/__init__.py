"""7z archives, read by Python's own decompressors."""
