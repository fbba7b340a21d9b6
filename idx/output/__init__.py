"""Everything that is printed: messages, tables, progress, reports and search results."""
