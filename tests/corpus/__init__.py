"""The test files of public projects, read as a folder of documents."""
