"""Opening an index on a cluster: its state as each call sees it, the whole of it or a part."""
