"""Files that a program of this project uses itself, which are never documents."""

import os
from collections.abc import Iterable
from pathlib import Path
from stat import S_ISREG
from typing import Final

from shared.files.access import Identity, identity, identity_of

OWN: Final = "is a file of mcp-lucene itself: its configuration, tokens, key, certificate or log"
"""Reason why such a file is not indexed."""

_STDOUT_AND_STDERR: Final = (1, 2)


def own_files(paths: Iterable[Path | None]) -> frozenset[Identity]:
    """Return the identities of the program's own files and of those that it prints to.

    Identities recognize the files under any name, in any folder.

    Args:
        paths: the paths of its own files; None and missing files are ignored.
    """
    given = {identity(path) for path in paths if path is not None}
    return frozenset({known for known in given if known} | {*_printed_to()})


def _printed_to() -> Iterable[Identity]:
    for descriptor in _STDOUT_AND_STDERR:
        try:
            status = os.fstat(descriptor)
        except OSError:
            # It was closed before the program began.
            continue
        if S_ISREG(status.st_mode):
            yield identity_of(status)
