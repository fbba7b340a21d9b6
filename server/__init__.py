"""The MCP server `mcp-lucene`: lets AI assistants search an index that idx wrote."""
