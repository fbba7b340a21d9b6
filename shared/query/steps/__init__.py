"""The steps that rewrite the tree of a query, one a module."""
