"""Filters of a search, given beside the query or named in it, as trees."""
