"""Exact copies among the files of a run, of which one is read for all."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from idx.extraction.pool import ExtractionPool
from idx.extraction.types import FileContent, ReadFile, Unreadable
from idx.sync.plan import Change

MIN_BYTES: Final = 4_096
"""Size from which copies are looked for: a smaller file is read as fast as it is hashed, and many
have the same size by chance."""

_MAILDIR: Final = frozenset(("cur", "new"))
"""Names of the folders of messages in a Maildir."""

_Results = Iterator[tuple[Change, ReadFile | Unreadable, str | None]]


def read_once(pool: ExtractionPool, changes: Sequence[Change]) -> _Results:
    """Read files, but of several with the same bytes only one.

    A file that cannot be read is never taken for a copy, and neither are its copies: each fails or
    is read by itself. The same holds for files with others within them, whose ids depend on the
    name, and for those that OCR is to read later.

    Args:
        pool: worker processes that hash and read the files.
        changes: the files.

    Yields:
        Each file with its result, and for a copy the id of the document that was read for it.
    """
    together: defaultdict[tuple[object, ...], list[Change]] = defaultdict(list)
    for change in changes:
        together[change.size, _read_as(change.path)].append(change)
    maybe_copies = [
        change
        for alike in together.values()
        if len(alike) > 1 and alike[0].size >= MIN_BYTES
        for change in alike
    ]
    if not maybe_copies:
        yield from _alone(pool, changes)
        return
    copies = _copies(pool, maybe_copies)
    waiting = {change.source_document for of in copies.values() for change, _ in of}
    unlike: list[Change] = []
    firsts = [change for change in changes if change.source_document not in waiting]
    for change, result in pool.read(firsts):
        yield change, result, None
        for copy, content in copies.get(change.source_document, ()):
            if read := _as_copy(result, content):
                yield copy, read, change.source_document
            else:
                unlike.append(copy)
    yield from _alone(pool, unlike)


def _alone(pool: ExtractionPool, changes: Sequence[Change]) -> _Results:
    for change, result in pool.read(changes):
        yield change, result, None


def _copies(
    pool: ExtractionPool, changes: Sequence[Change]
) -> dict[str, list[tuple[Change, FileContent]]]:
    """Return the copies of the first file with the same content, by the id of its document."""
    contents = {
        change.source_document: content
        for change, content in pool.contents(changes)
        if isinstance(content, FileContent)
    }
    first: dict[tuple[object, ...], str] = {}
    copies: defaultdict[str, list[tuple[Change, FileContent]]] = defaultdict(list)
    for change in changes:
        content = contents.get(change.source_document)
        if content is None:
            continue
        key = content.content_hash, content.is_allowed, _read_as(change.path)
        if key in first:
            copies[first[key]].append((change, content))
        else:
            first[key] = change.source_document
    return copies


def _read_as(path: Path) -> tuple[str, bool]:
    """Return what decides how the bytes of a file are read: its extension, and a Maildir's name."""
    return (path.suffix or path.name).lower(), path.parent.name in _MAILDIR


def _as_copy(result: ReadFile | Unreadable, content: FileContent) -> ReadFile | None:
    """Return the result of reading a file as that of a copy; None if the copy must be read."""
    if isinstance(result, Unreadable) or result.members or result.scanned_pages:
        return None
    if result.content_hash != content.content_hash:
        return None
    return replace(
        result,
        size=content.size,
        modified_ns=content.modified_ns,
        is_settled=content.is_settled,
    )
