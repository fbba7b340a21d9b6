"""The MCP server `mcp-lucene`, through which AI assistants search an index written by idx."""

import sys

# pip checks this, but not for a folder on PYTHONPATH.
if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit(
        "Error: mcp-lucene needs Python 3.11 or newer; this is Python " + sys.version.split()[0]
    )
