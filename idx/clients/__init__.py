"""The programs with an MCP client, and the files in which they are told of this server."""
