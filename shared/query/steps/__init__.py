"""Steps that rewrite the tree of a query, one per module."""
