"""The tools by group; `server.tools.table` lists them."""
