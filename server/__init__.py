"""The MCP server `mcp-lucene`, through which AI assistants search an index written by idx."""
