"""Messages of a run on stderr: a new index, failures, and warnings up to a limit of each kind.

Every message names files by their absolute paths.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Final, Literal

from idx.output.printing import created
from idx.sync.events import (
    Created,
    Event,
    Finished,
    Indexed,
    LeftOut,
    MissingFolder,
    NotIndexed,
    Problem,
)
from shared.files.access import OWN
from shared.messages import quantity

MAX_WARNINGS_OF_A_KIND: Final = 10
"""Maximum number of warnings of one kind; the rest are only counted."""

_Kind = Literal["empty", "unsupported", "partial", "secret"]

_REST_NOUNS: Final[dict[_Kind, tuple[str, str]]] = {
    "empty": ("more empty file", "more empty files"),
    "unsupported": ("more file of an unsupported kind", "more files of unsupported kinds"),
    "partial": ("more file read only in part", "more files read only in part"),
    "secret": ("more secret skipped", "more secrets skipped"),
}


_LIST_OPTIONS: Final[dict[_Kind, str]] = {"secret": " --secrets"}


class Problems:
    """Messages about the problems of one or several consecutive runs."""

    def __init__(self) -> None:
        self._counts: Counter[_Kind] = Counter()

    def lines(self, event: Event) -> Iterator[str]:
        """Yield the messages for an event; at the end of a run, also the counts of the rest."""
        match event:
            case Created():
                yield created(event.index_path)
            case Indexed(warnings=warnings) if warnings:
                yield from self._warnings("partial", event.file_path, warnings)
            case NotIndexed(kind="failed" | "garbled"):
                yield f"Error: {event.file_path}: {event.reason}"
            case NotIndexed(kind="empty" | "unsupported" as kind):
                if kind == "empty" or event.is_named:
                    yield from self._warnings(kind, event.file_path, (event.reason,))
            case NotIndexed(kind="secret") | LeftOut():
                allowing = "" if event.reason == OWN else "; to index it: --allow-secret"
                reason = f"{event.reason}, and is skipped{allowing}"
                yield from self._warnings("secret", event.file_path, (reason,))
            case Problem():
                yield f"Error: {event.message}"
            case MissingFolder():
                yield f"Warning: {event.message}"
            case Finished():
                yield from self.rest()
            case _:
                pass

    def rest(self) -> Iterator[str]:
        """Yield the number of unshown warnings of each kind, and reset the counts."""
        for kind, number in self._counts.items():
            if number > MAX_WARNINGS_OF_A_KIND:
                more = quantity(number - MAX_WARNINGS_OF_A_KIND, *_REST_NOUNS[kind])
                command = f"idx failures{_LIST_OPTIONS.get(kind, '')}"
                yield f"Warning: and {more}; list them with: {command}"
        self._counts.clear()

    def _warnings(self, kind: _Kind, path: str, reasons: tuple[str, ...]) -> Iterator[str]:
        self._counts[kind] += 1
        if self._counts[kind] <= MAX_WARNINGS_OF_A_KIND:
            for reason in reasons:
                yield f"Warning: {path}: {reason}"
