"""The note of an answer: how its query was understood where that may not be what was meant."""

from typing import Any

from shared.indexed_folder import IndexedFolders
from shared.query.field_notes import on_folders
from shared.query.pipeline import ParsedQuery


def note_on(query: ParsedQuery, searcher: Any, folders: IndexedFolders) -> str | None:
    """The note on a query, or None if there is nothing to say.

    Args:
        query: the query after all steps.
        searcher: the Lucene searcher that runs it.
        folders: the folders of the index.
    """
    return " ".join((*query.notes, *on_folders(query.filters, searcher, folders))) or None
