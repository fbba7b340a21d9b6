"""Lucene's directories on an index folder."""

import os
from pathlib import Path
from typing import Any

from java.nio.file import Paths
from org.apache.lucene.store import FSDirectory

from shared.errors import IndexFileError, IndexPathError
from shared.files.content import NOT_REGULAR
from shared.files.lucene_files import is_lucene_file
from shared.messages import reason_of


def open_directory(path: Path) -> Any:
    """Open an index folder, or that of a backup, for Lucene.

    Args:
        path: the folder; Lucene creates one that does not exist.

    Returns:
        A `Directory` of Lucene, which the caller closes.

    Raises:
        IndexFileError: a name of Lucene's files stands for something else than a regular file.
        IndexPathError: the folder cannot be listed.
    """
    check_files(path)
    return FSDirectory.open(Paths.get(str(path)))


def open_links(folder: Path) -> Any:
    """Open a folder of links to files of an index, which this process has made, for Lucene.

    Returns:
        A `Directory` of Lucene, which the caller closes.
    """
    return FSDirectory.open(Paths.get(str(folder)))


def check_files(path: Path) -> None:
    """Make sure that each name of Lucene's files in a folder stands for a regular file.

    Raises:
        IndexFileError: one does not; it is named.
        IndexPathError: the folder cannot be listed.
    """
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if is_lucene_file(entry.name) and not entry.is_file(follow_symlinks=False):
                    raise IndexFileError(path, entry.name, NOT_REGULAR)
    except (FileNotFoundError, NotADirectoryError):
        # Whoever reads or writes the index says so.
        return
    except OSError as error:
        raise IndexPathError(path, reason_of(error)) from error
