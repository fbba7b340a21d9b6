"""The command line `idx`: writes the index, and searches it for people."""
