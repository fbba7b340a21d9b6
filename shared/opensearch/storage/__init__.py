"""The index on the cluster: its address, its layout and state, and requests."""
