"""The standard streams of the server: flow control, and messages that nobody reads."""
