"""A Windows environment under Wine: ``python -m tests.windows`` runs tests in it."""
