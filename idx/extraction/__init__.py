"""The text of files: a module a format, each run in worker processes under limits."""
