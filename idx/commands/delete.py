"""Command `idx delete`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Final

import typer

from idx.cli.completions import document_ids
from idx.cli.options import DEFAULT_INDEX_PATH, IndexPath, Json, Wait
from idx.output.printing import print_json, say, tell, warn
from shared.errors import McpLuceneError
from shared.messages import quantity
from shared.model.document import MEMBER_MARK
from shared.model.schema import any_spelling
from shared.settings.defaults import DEFAULT_WAIT
from shared.system.shell import joined

if TYPE_CHECKING:
    from idx.configuration.file_exclusion import DocumentFile
    from shared.reading.searcher import Searcher

_MAX_IDS_IN_COMMAND: Final = 10
"""Maximum number of ids in a command suggested by a message."""


def delete(
    ids: Annotated[
        list[str],
        typer.Argument(
            metavar="ID…", autocompletion=document_ids, help="Ids of documents; see idx list."
        ),
    ],
    # Not named "exclude", the setting with the patterns of all folders.
    leave_out: Annotated[
        bool,
        typer.Option(
            "--exclude",
            help="Also exclude their files from the folders, permanently, in the configuration "
            "file.",
        ),
    ] = False,
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    wait: Wait = DEFAULT_WAIT,
    as_json: Json = False,
) -> None:
    """Delete documents with all their chunks.

    If the file of a document is still in an indexed folder, the next idx sync adds it again, unless
    --exclude is given. Unknown ids are reported; the exit code is 1 if no id exists.

    Examples: idx delete lease-2025 minutes-2019; idx delete old/notes.md --exclude
    """
    from idx.configuration.file_exclusion import document_file, exclude
    from shared.reading.searcher import Searcher
    from shared.writing.index import Index

    with Searcher(index_path) as searcher:
        folders = searcher.folders()
        ids = [_known(searcher, name) for name in ids]
        behind = {name: file for name in ids if (file := document_file(name, folders))}
        within = [member for name in ids for member in _members(searcher, name)]
        returning = {
            name: file for name, file in behind.items() if _was_made_of(searcher, name, file)
        }
    if leave_out and behind:
        # Before the deletion: if that fails, the next sync deletes the documents.
        exclude(behind)
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
        patterns = {name: file.pattern for name, file in behind.items()}
        excluded = {"excluded": patterns} if leave_out else {}
        print_json({"deleted": deleted, "unknown": unknown, **excluded})
    else:
        for document_id, count in deleted.items():
            tell(f"Deleted document '{document_id}' ({count} chunks)")
    is_done = bool(deleted or (leave_out and behind))
    for document_id in unknown:
        say(f"{'No' if is_done else 'Error: no'} document has the id '{document_id}'.")
    if leave_out:
        for document_id in deleted.keys() - behind.keys():
            say(f"Document '{document_id}' has no file in an indexed folder; no file is excluded.")
    else:
        _warn_about_next_sync({name: file for name, file in returning.items() if name in deleted})
    if not is_done:
        raise typer.Exit(1)


def _warn_about_next_sync(behind: Mapping[str, "DocumentFile"]) -> None:
    """Warn about documents that the next sync adds again, with a command that prevents it."""
    from shared.settings.current import configured, remembered_folders

    general, remembered = configured("exclude") or [], remembered_folders()
    names = [name for name, file in behind.items() if not file.is_excluded(general, remembered)]
    if not names:
        return
    # A name that begins with a dash would be parsed as an option.
    dashes = ["--"] if any(name.startswith("-") for name in names) else []
    command = joined(["idx", "delete", "--exclude", *dashes, *names])
    if len(names) > _MAX_IDS_IN_COMMAND:
        command = "the same command with --exclude"
    one = len(names) == 1
    warn(
        f"the next idx sync adds {quantity(len(names), 'document')} again, because the "
        f"{'file still exists:' if one else 'files still exist, such as'} "
        f"{behind[names[0]].shown}; to exclude {'it' if one else 'them'} permanently: {command}"
    )


def _members(searcher: "Searcher", document_id: str) -> list[str]:
    """Return the ids of the documents made of what is within the file of a document."""
    if not searcher.documents(prefix=f"{document_id}{MEMBER_MARK}", limit=1).documents:
        return []
    _, states = searcher.files()
    return sorted(name for name, state in states.items() if state.container == document_id)


def _known(searcher: "Searcher", document_id: str) -> str:
    """Return the id of a document as it is spelled in the index; itself if there is no document."""
    if any_spelling(document_id) is None:
        return document_id
    try:
        return searcher.document_chunks(document_id, count=1).source_document
    except McpLuceneError:
        # It does not exist, or is damaged.
        return document_id


def _was_made_of(searcher: "Searcher", document_id: str, file: "DocumentFile") -> bool:
    """Check whether a document was made of the file that its id denotes."""
    # An exact match sorts first among the ids with this prefix.
    found = searcher.documents(prefix=document_id, limit=1).documents
    return any(
        (document.source_document, document.file_path) == (document_id, file.shown)
        for document in found
    )
