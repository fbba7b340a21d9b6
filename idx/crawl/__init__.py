"""The files of a folder: which are taken, and how they are opened without following links."""
