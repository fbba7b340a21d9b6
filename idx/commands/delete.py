"""Command `idx delete`."""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from idx.cli.options import DEFAULT_INDEX_PATH, IndexPath, Json, Wait
from idx.output.printing import print_json, say, tell, warn
from shared.errors import McpLuceneError
from shared.messages import quantity
from shared.model.document import MEMBER_MARK
from shared.settings.defaults import DEFAULT_WAIT

if TYPE_CHECKING:
    from shared.reading.searcher import Searcher


def delete(
    ids: Annotated[
        list[str], typer.Argument(metavar="ID…", help="Ids of documents; see idx list.")
    ],
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    wait: Wait = DEFAULT_WAIT,
    as_json: Json = False,
) -> None:
    """Delete documents with all their chunks.

    If the file of a document is still in an indexed folder, the next idx sync adds it again, unless
    an .idxignore there excludes it. Unknown ids are reported; the exit code is 1 if no id exists.

    Example: idx delete lease-2025 minutes-2019
    """
    from shared.reading.searcher import Searcher
    from shared.writing.index import Index

    with Searcher(index_path) as searcher:
        ids = [_known(searcher, name) for name in ids]
        within = [member for name in ids for member in _members(searcher, name)]
        files = {name: file for name in ids if (file := _file_behind(searcher, name))}
    deleted: dict[str, int] = {}
    unknown: list[str] = []
    with Index(index_path, wait=wait, program="command") as index:
        for document_id in dict.fromkeys((*ids, *within)):
            count = index.delete(document_id)
            if count:
                deleted[document_id] = count
            else:
                unknown.append(document_id)
    if as_json:
        print_json({"deleted": deleted, "unknown": unknown})
    else:
        for document_id, count in deleted.items():
            tell(f"Deleted document '{document_id}' ({count} chunks)")
    for document_id in unknown:
        say(f"{'No' if deleted else 'Error: no'} document has the id '{document_id}'.")
    _warn_about_next_sync([file for name, file in files.items() if name in deleted])
    if not deleted:
        raise typer.Exit(1)


def _warn_about_next_sync(files: Iterable[tuple[Path, str]]) -> None:
    from shared.files.patterns import Patterns
    from shared.settings.current import configured, remembered_folders

    own = {os.path.realpath(folder.path): folder.exclude for folder in remembered_folders()}
    general = configured("exclude") or []
    left = [
        (folder, path)
        for folder, path in files
        if not Patterns([*general, *own.get(os.path.realpath(folder), ())]).verdict(path)
    ]
    if not left:
        return
    folder, path = left[0]
    one = len(left) == 1
    pattern = re.sub(r"([*?[\]\\]| $)", r"\\\1", path)
    warn(
        f"the next idx sync adds {quantity(len(left), 'document')} again, because the "
        f"{'file still exists:' if one else 'files still exist, such as'} {folder / path}; "
        f"to keep {'it' if one else 'this one'} out, add the line /{pattern} to "
        f"{folder / '.idxignore'}"
    )


def _file_behind(searcher: "Searcher", document_id: str) -> tuple[Path, str] | None:
    """Return the folder and the path in it of an existing file that makes the document anew."""
    try:
        found = searcher.document_file(document_id)
    except McpLuceneError:
        # It does not exist, or it is damaged, which is why it is to be deleted.
        return None
    if found is None or found.folder is None or found.container is not None:
        return None
    return (found.folder, found.path) if os.path.lexists(found.file_path) else None


def _members(searcher: "Searcher", document_id: str) -> list[str]:
    if not searcher.documents(prefix=f"{document_id}{MEMBER_MARK}", limit=1).documents:
        return []
    _, states = searcher.files()
    return sorted(name for name, state in states.items() if state.container == document_id)


def _known(searcher: "Searcher", document_id: str) -> str:
    """Return the id of a document as it is spelled in the index; itself if there is no document."""
    try:
        return searcher.document_chunks(document_id, count=1).source_document
    except McpLuceneError:
        # It does not exist, or is damaged.
        return document_id
