"""The server by HTTP: who may reach it, how much at once, and what is told of it."""
