"""Rendering of PDF pages as pictures in worker processes, without Lucene."""
