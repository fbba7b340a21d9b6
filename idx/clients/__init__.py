"""MCP clients, and the configuration files that name this server."""
