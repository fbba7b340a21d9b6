"""The version of this software.

What reads it of the distribution takes 20 ms to import, and only few runs ask.
"""


def software_version() -> str:
    """The version of the installed distribution ``mcp-lucene``."""
    from importlib.metadata import version

    return version("mcp-lucene")


def lucene_versions() -> tuple[str, str]:
    """The version of the distribution ``pylucene``, and that of the Lucene in it.

    Raises:
        ImportError: it is not installed, or cannot be loaded.
    """
    from importlib.metadata import version

    import lucene

    return version("pylucene"), lucene.VERSION
