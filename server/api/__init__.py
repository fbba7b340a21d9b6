"""The JSON API of the server over HTTP: what the tools answer, for programs."""
