"""Evaluation of search quality: test collections, measures, and reports."""
