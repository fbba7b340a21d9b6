"""Lucene directories of index folders."""

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
    """Open the folder of an index or a backup for Lucene.

    Args:
        path: the folder; Lucene creates one that does not exist.

    Returns:
        A Lucene `Directory`, which the caller closes.

    Raises:
        IndexFileError: an entry with the name of a Lucene file is not a regular file.
        IndexPathError: the folder cannot be listed.
    """
    check_files(path)
    return FSDirectory.open(Paths.get(str(path)))


def open_links(folder: Path) -> Any:
    """Open a folder with links to files of an index, made by this process, for Lucene.

    Returns:
        A Lucene `Directory`, which the caller closes.
    """
    return FSDirectory.open(Paths.get(str(folder)))


def check_files(path: Path) -> None:
    """Check that all entries with names of Lucene files in a folder are regular files.

    Raises:
        IndexFileError: an entry is not a regular file; it is named.
        IndexPathError: the folder cannot be listed.
    """
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if is_lucene_file(entry.name) and not entry.is_file(follow_symlinks=False):
                    raise IndexFileError(path, entry.name, NOT_REGULAR)
    except (FileNotFoundError, NotADirectoryError):
        # The code that reads or writes the index reports this.
        return
    except OSError as error:
        raise IndexPathError(path, reason_of(error)) from error
