"""Search on the cluster: terms, the compiler of queries, and what a query selects."""
