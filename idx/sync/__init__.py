"""Sync of folders to the index: targets, comparison, plan, ingestion, and watching for changes."""
