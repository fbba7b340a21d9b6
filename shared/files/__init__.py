"""Files and folders on disk, without Java: identities, contents, the index folder and its files."""
