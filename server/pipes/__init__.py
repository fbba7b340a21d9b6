"""The standard streams of the server: flow control and logging."""
