"""The prompts and the server's instructions; `server.prompts.table` lists the prompts."""
