"""Vectors of texts that an index has already: the same text is never embedded twice."""

from functools import cached_property
from typing import Any

from shared.semantic.passages import key_of
from shared.storage.vectors import keys_with_documents, stored_values


class KnownVectors:
    """The vectors of a commit by the text they were made of; read when the first is asked for.

    Args:
        reader: a reader of the commit, which this object closes.
    """

    def __init__(self, reader: Any) -> None:
        self._reader = reader

    def value_of(self, text: str) -> bytes | None:
        """Return the value for a chunk whose passage is a text; None if it is not known."""
        document = self._documents.get(key_of(text))
        return None if document is None else stored_values(self._reader, [document])[document]

    def close(self) -> None:
        """Close the reader."""
        self._reader.close()

    @cached_property
    def _documents(self) -> dict[bytes, int]:
        return dict(keys_with_documents(self._reader))
