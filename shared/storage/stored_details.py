"""Details that are stored as JSON with each chunk: its document, its file and its place."""

import json
from dataclasses import dataclass, fields
from typing import Any, Final

from shared.model import schema
from shared.model.chunks import Place
from shared.model.document import Metadata
from shared.model.search_results import Citation

_CITATION_FIELDS: Final = frozenset(field.name for field in fields(Citation)) - {"file_path"}

_REQUIRED: Final = {"char_start", "char_end"}


class StoredDetailsError(ValueError):
    """The stored details of a chunk were not written by this project."""


@dataclass(frozen=True, slots=True)
class StoredDetails:
    """Stored values of a chunk that are not fields of their own.

    Attributes:
        title: the title of the document.
        chunk_count: the number of chunks of the document, from 1.
        words: the number of words of the document; None in older indexes.
        metadata: the metadata of the document.
        folder: the prefix of the indexed folder of its file; None without one.
        file_path: the path of the file within the folder, or the absolute one; None without a file.
        place: the place of the chunk in the file.
    """

    title: str
    chunk_count: int
    metadata: Metadata
    folder: str | None
    file_path: str | None
    place: Place
    words: int | None = None


def details_of(stored: Any) -> StoredDetails:
    """Read the details of a chunk.

    Args:
        stored: the stored fields of the chunk, a Lucene `Document`.

    Raises:
        StoredDetailsError: they have a form that only another program can have written.
    """
    try:
        details = StoredDetails(**json.loads(stored.get(schema.DETAILS)))
    except (ValueError, TypeError, RecursionError) as error:
        raise StoredDetailsError("the details of a chunk are not readable") from error
    if not (
        isinstance(details.title, str)
        and isinstance(details.chunk_count, int)
        and isinstance(details.words, int | None)
        and isinstance(details.metadata, dict)
        and isinstance(details.folder, str | None)
        and isinstance(details.file_path, str | None)
        and isinstance(details.place, dict)
        and _REQUIRED <= details.place.keys() <= _CITATION_FIELDS
    ):
        raise StoredDetailsError("the details of a chunk have a wrong type")
    return details
