"""Lookup of the document that a user names by id or file path."""

import os
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

from idx.errors import SourceFileError
from shared.errors import DocumentNotFoundError
from shared.messages import decodable

if TYPE_CHECKING:
    from shared.reading.searcher import Searcher

_MAX_LISTED_IDS = 10
"""Maximum number of documents of one file listed in a message."""


def named_document(searcher: "Searcher", name: str) -> str:
    """Return the id of the document with a name.

    Args:
        searcher: the index.
        name: an id, or the path of a file, which need not exist any more.

    Raises:
        DocumentNotFoundError: no document has the name.
        SourceFileError: it is a file or folder without a document, or a file with several.
    """
    try:
        return searcher.document_chunks(name, count=1).source_document
    except DocumentNotFoundError:
        paths = _paths(searcher, name)
        found = searcher.catalog.documents_of_files(paths, _MAX_LISTED_IDS)
        if not found:
            _check_file(searcher, name, paths)
            raise
    if len(found) > 1:
        raise SourceFileError(
            name,
            f"several documents come from this file: name one of {', '.join(map(repr, found))}",
        )
    return found[0]


def _paths(searcher: "Searcher", name: str) -> list[str]:
    """Return the absolute paths that a name may mean: as spelled, and with links resolved."""
    path = os.path.abspath(os.path.expanduser(name))  # noqa: PTH100, PTH111 - resolves no links
    real = Path(os.path.realpath(path))
    paths = [Path(path).as_posix(), real.as_posix()]
    for folder in searcher.folders():
        # The folder may have been indexed under another path.
        real_folder = Path(os.path.realpath(folder.path))
        if real_folder in real.parents:
            paths.append(f"{folder.beginning}{real.relative_to(real_folder).as_posix()}")
    return list(dict.fromkeys(map(decodable, paths)))


def _check_file(searcher: "Searcher", name: str, paths: list[str]) -> None:
    """Raise a specific error if a name without a document is a file or a folder.

    Raises:
        SourceFileError: the name is a file or folder, or a failure is recorded for it.
    """
    if os.path.isdir(paths[0]):  # noqa: PTH112 - the method of Path raises errors
        raise SourceFileError(name, "is a folder; name a file in it, see idx list")
    composed = {unicodedata.normalize("NFC", path) for path in paths}
    for failure in searcher.failures().failures:
        if unicodedata.normalize("NFC", failure.file_path) in composed:
            raise SourceFileError(name, f"is not in the index: {failure.reason}")
    if os.path.exists(paths[0]):  # noqa: PTH110 - the method of Path raises errors
        raise SourceFileError(name, "is not in the index; add it with idx add")
