"""Run `mcp-lucene` as ``python -m server``."""

from server.app import main

main()
