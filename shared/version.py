"""The version of this software."""

from importlib.metadata import version


def software_version() -> str:
    """The version of the installed distribution ``mcp-lucene``."""
    return version("mcp-lucene")
