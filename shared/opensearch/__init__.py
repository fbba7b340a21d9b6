"""Indexes on a cluster of OpenSearch, with the analysis, ranking and answers of a folder.

Nothing else imports this package: `shared.backends` loads it for a path that means a cluster.
"""
