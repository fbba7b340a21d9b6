"""Versions of this software and of Lucene.

The library that reads them takes 20 ms to import, and only few runs need them.
"""

from typing import Final

DISTRIBUTION: Final = "mcp-lucene"
"""The name under which both programs are published."""


def software_version() -> str:
    from importlib.metadata import version

    return version(DISTRIBUTION)


def is_newer(version: str, other: str) -> bool:
    """Check whether a version is newer than another one; both are numbers with dots between them.

    What follows the numbers, such as ``rc1``, is not compared.
    """
    return _numbers(version) > _numbers(other)


def _numbers(version: str) -> list[int]:
    import re

    leading = re.match(r"\d+(\.\d+)*", version)
    return [int(number) for number in leading[0].split(".")] if leading else []


def lucene_versions() -> tuple[str, str]:
    """Return the version of the distribution ``pylucene``, and that of the Lucene in it."""
    from importlib.metadata import version

    import lucene

    return version("pylucene"), lucene.VERSION
