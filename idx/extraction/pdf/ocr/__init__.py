"""Recognition of the text of scanned pages and pictures, after all other files were read."""
