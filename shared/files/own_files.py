"""The files that a program of this project works with itself, which are never documents."""

import os
from collections.abc import Iterable
from pathlib import Path
from stat import S_ISREG
from typing import Final

from shared.files.access import Identity, identity, identity_of

OWN: Final = "is a file of mcp-lucene itself: its configuration, tokens, key, certificate or log"
"""The reason why such a file is not taken."""

_STDOUT_AND_STDERR: Final = (1, 2)


def own_files(paths: Iterable[Path | None]) -> frozenset[Identity]:
    """The identities of files that the program was given, and of those that it prints to.

    So they are known whatever other name they have, in whichever folder.

    Args:
        paths: what it was given; None and what is not there do not count.
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
