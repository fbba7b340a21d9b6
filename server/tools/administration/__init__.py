"""Tools that change the index or its folders, for a server with `--admin`."""
