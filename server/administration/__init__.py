"""Administration by an assistant: crawls, folders and maintenance, each by running `idx`.

The server itself writes nothing: it starts `idx` as a child process, reads the events that it
prints, and terminates it.
"""
