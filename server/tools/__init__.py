"""The tools: what each does, in groups; `server.tools.table` lists them."""
