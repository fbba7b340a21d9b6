"""Tags around document texts in responses, so that a model can distinguish them from all else.

With ``--fence`` each response has its own pair of tags, which no document can know
(`shared.document_tags`).

Values that tools take as arguments are not fenced: ids, paths, the query and its suggested
correction, which consists of words that are spelled like the query's own.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from shared.document_tags import new_tag, tagged
from shared.messages import is_plain_word
from shared.model.metadata import HIDDEN_TEXT

FENCE: Final = "fence"  # field of a response that contains the name of its tags

_ALWAYS_FENCED: Final = frozenset(
    {"content", "text", "passages", "preview", "title", "reason", "problems", HIDDEN_TEXT}
)
"""Fields whose values are always fenced."""

_FENCED_UNLESS_PLAIN: Final = frozenset(
    {
        *("metadata", "value", "examples", "term", "match", "language"),
        *("section", "sheet_start", "sheet_end", "name", "query_name", "languages", "formats"),
    }
)
"""Fields whose keys and values are fenced unless they are plain words."""


class Fence:
    """The tags of one response."""

    def __init__(self) -> None:
        self.name = new_tag()

    def around(self, text: str) -> str:
        """Return the text between the tags, or the empty string for an empty text."""
        return tagged(text, self.name)

    def parts(self, plain: Any) -> Any:
        """Fence all document texts in a response or a part of one."""
        match plain:
            case {"step": str(), "query": str(query)}:
                # The query after a rewriting step may contain words of documents.
                return {**plain, "query": self.around(query)}
            case dict():
                # Keys of metadata are chosen by documents, too.
                return {self._value(name): self._part(name, part) for name, part in plain.items()}
            case list() | tuple():
                return [self.parts(part) for part in plain]
        return plain

    def _part(self, name: str, part: Any) -> Any:
        if name in _ALWAYS_FENCED:
            return self._each(part, self.around)
        if name in _FENCED_UNLESS_PLAIN:
            return self._each(part, self._value)
        return self.parts(part)

    def _each(self, value: Any, change: Callable[[str], str]) -> Any:
        """Apply a function to every string in a value, at any depth, and fence its keys."""
        match value:
            case str():
                return change(value)
            case dict():
                # Of one word, too, a model should know that nobody sees it.
                of = {HIDDEN_TEXT: self.around}
                return {
                    self._value(key): self._each(part, of.get(key, change))
                    for key, part in value.items()
                }
            case list() | tuple():
                return [self._each(part, change) for part in value]
        return value

    def _value(self, value: str) -> str:
        return value if is_plain_word(value) else self.around(value)


_fence: ContextVar[Fence | None] = ContextVar("fence", default=None)
"""The fence of the current response, in a context variable so that no tool can forget it."""


@contextmanager
def one_answer() -> Iterator[Fence]:
    """Fence the response created within a block."""
    fence = Fence()
    token = _fence.set(fence)
    try:
        yield fence
    finally:
        _fence.reset(token)


def current_fence() -> Fence | None:
    """Return the fence of the current response, or None without one."""
    return _fence.get()


def fenced(text: str) -> str:
    """Fence a document text if the current response has a fence."""
    fence = _fence.get()
    return fence.around(text) if fence else text


def fenced_parts(plain: Any) -> Any:
    """Fence a part of a response, given as plain data, if the current response has a fence."""
    fence = _fence.get()
    return fence.parts(plain) if fence else plain


def fenced_answer(plain: dict[str, Any]) -> dict[str, Any]:
    """Fence a response, given as plain data, and add the name of its tags, if it has a fence."""
    fence = _fence.get()
    # The name precedes the texts that need it.
    return {FENCE: fence.name, **fence.parts(plain)} if fence else plain
