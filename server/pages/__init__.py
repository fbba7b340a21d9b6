"""The pages of the server over HTTP, for people with a browser; they work without JavaScript."""
