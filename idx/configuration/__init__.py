"""The configuration file that idx writes, and what it remembers beside it."""
