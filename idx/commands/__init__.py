"""One module a command: it reads the arguments, calls `shared` once and prints the answer."""
