"""Commands, one module each, which parses arguments, calls `shared` and prints the answer."""
