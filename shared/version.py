"""The version of this software."""

from importlib.metadata import version


def software_version() -> str:
    """The version of the installed distribution ``mcp-lucene``."""
    return version("mcp-lucene")


def lucene_versions() -> tuple[str, str]:
    """The version of the distribution ``pylucene``, and that of the Lucene in it.

    Raises:
        ImportError: it is not installed, or cannot be loaded.
    """
    import lucene

    return version("pylucene"), lucene.VERSION
