"""Recently used indexes, stored in the platform's data folder and suggested if none is found.

The list is a convenience: no problem with it stops a command.
"""

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from idx.errors import message
from shared.errors import IndexMissingError, McpLuceneError
from shared.files.index_folder import holds_index
from shared.system.shell import quoted

_MAX_RECENT_INDEXES: Final = 10

_MAX_LIST_BYTES: Final = 300_000
"""Maximum size of the list, in bytes: more than ten paths of maximum length take as JSON."""


class DefaultIndexMissingError(McpLuceneError):
    """There is no index at the default path, but others were used recently.

    Args:
        missing: the error that names the default path.
        recent: the other indexes, the most recently used first.
        command: the command that needs an index.
    """

    def __init__(self, missing: IndexMissingError, recent: Sequence[Path], command: str) -> None:
        first = quoted(str(recent[0]))
        super().__init__(
            f"{message(missing)}; or name a recently used index "
            f"({', '.join(map(str, recent))}), for this command: "
            f"idx {command} --index-path {first}, or for all: idx config set index-path {first}"
        )


def recent_indexes() -> list[Path]:
    """Return the recently used indexes that still exist, the latest first."""
    file = _list_file()
    return [path for path in _read(file) if holds_index(path)] if file else []


def note_use(index_path: Path) -> None:
    """Move an index to the head of the list, if it exists and the list is writable."""
    path = Path(os.path.abspath(index_path))  # noqa: PTH100 - resolves no links
    file = _list_file()
    if file is None or not holds_index(path):
        return
    known = _read(file)
    if known[:1] == [path]:
        return
    kept = [other for other in known if other != path and holds_index(other)]
    text = json.dumps([*map(str, [path, *kept][:_MAX_RECENT_INDEXES])])
    # Imported late, because the import takes longer than reading the list.
    from shared.files.content import write_atomically

    with suppress(OSError):
        write_atomically(file, text.encode())


def _list_file() -> Path | None:
    from platformdirs import user_data_path

    file = user_data_path("mcp-lucene", appauthor=False) / "recent-indexes.json"
    # The path is relative if the home folder is unknown.
    return file if file.is_absolute() else None


def _read(file: Path) -> list[Path]:
    """Return the paths of the list; empty if it is invalid."""
    try:
        if not file.is_file():
            return []
        with file.open("rb") as stream:
            entries = json.loads(stream.read(_MAX_LIST_BYTES))
    except (OSError, ValueError, RecursionError):
        return []
    if not isinstance(entries, list):
        return []
    paths = [Path(entry) for entry in entries if isinstance(entry, str) and "\0" not in entry]
    return [path for path in paths if path.is_absolute()][:_MAX_RECENT_INDEXES]
