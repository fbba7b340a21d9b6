"""The prompts, and the instructions for clients; `server.prompts.table` lists them."""
