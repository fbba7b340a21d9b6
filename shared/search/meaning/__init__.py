"""Ranking by meaning beside words: whether a query has one, and the fusion of both scores."""
