"""Output of commands: messages, tables, progress, reports and search results."""
