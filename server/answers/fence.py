"""Tags around what comes from documents, so that a model can tell it from everything else.

A document may say anything, such as what a model is to do next, or that the text of the document
ends here. With ``--fence`` every answer has a pair of tags of its own, whose name ends in a random
marker: who wrote a document cannot know it, so nothing in a document closes them. Nothing but the
tags is added, no line break either: what stands between them is the text to the letter.

What a tool takes as an argument stays as it is: ids, paths, names of fields, the query and what is
suggested in its place, which consists of words that are spelled like the query's own.
"""

import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

FENCE: Final = "fence"
"""Where an answer tells the name of its tags."""

_NAME: Final = "document-text-"

_MARKER_BYTES: Final = 8
"""64 random bits: nobody guesses the marker of an answer that is made after the document."""

_TEXTS: Final = frozenset({"content", "passages", "preview", "title", "reason", "problems"})
"""What stands under these names is fenced, whatever it is."""

_VALUES: Final = frozenset(
    {"metadata", "value", "examples", "term", "match", "language", "sheet_start", "sheet_end"}
)
"""What stands under these names is fenced unless it is a plain word."""

_COUNTS: Final = frozenset({"languages", "formats"})
"""Numbers by a value, which is fenced unless it is a plain word."""

_PLAIN_WORD: Final = re.compile(r"[A-Za-z0-9.:+-]{1,32}")
"""A word, a number, a date or a code, which a tool takes as an argument and nobody obeys."""


class Fence:
    """The tags of one answer.

    Attributes:
        name: of both tags.
    """

    def __init__(self) -> None:
        self.name = _NAME + secrets.token_hex(_MARKER_BYTES)

    def around(self, text: str) -> str:
        """A text between the tags; one that is empty stays so."""
        return f"<{self.name}>{text}</{self.name}>" if text else text

    def parts(self, plain: Any) -> Any:
        """An answer, or a part of one, with everything in it fenced that comes from documents.

        Args:
            plain: strings, numbers, dictionaries and lists.
        """
        match plain:
            case {"step": str(), "query": str(query)}:
                # What a step of an explanation has made of a query has words of documents.
                return {**plain, "query": self.around(query)}
            case dict():
                return {name: self._part(name, part) for name, part in plain.items()}
            case list() | tuple():
                return [self.parts(part) for part in plain]
        return plain

    def _part(self, name: str, part: Any) -> Any:
        if name in _TEXTS:
            return _each_string(part, self.around)
        if name in _VALUES:
            return _each_string(part, self._value)
        if name in _COUNTS:
            return {self._value(value): number for value, number in part.items()}
        return self.parts(part)

    def _value(self, value: str) -> str:
        return value if _PLAIN_WORD.fullmatch(value) else self.around(value)


_fence: ContextVar[Fence | None] = ContextVar("fence", default=None)
"""Of the answer that is being made: it holds for every tool, and no tool can forget it."""


@contextmanager
def one_answer() -> Iterator[Fence]:
    """Fence the answer that is made within a block."""
    fence = Fence()
    token = _fence.set(fence)
    try:
        yield fence
    finally:
        _fence.reset(token)


async def fence_answers(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Middleware of the server: gives each answer a fence, if that was chosen."""
    if not ctx.lifespan_context.settings.fence:
        return await call_next(ctx)
    with one_answer():
        return await call_next(ctx)


def current_fence() -> Fence | None:
    """The fence of the answer that is being made; None if there is none."""
    return _fence.get()


def fenced(text: str) -> str:
    """A text of a document in the fence of the answer, if there is one."""
    fence = _fence.get()
    return fence.around(text) if fence else text


def fenced_parts(plain: Any) -> Any:
    """A part of an answer as plain data, in the fence of the answer, if there is one."""
    fence = _fence.get()
    return fence.parts(plain) if fence else plain


def fenced_answer(plain: dict[str, Any]) -> dict[str, Any]:
    """An answer as plain data, in its fence and with the name of the tags, if there is one."""
    fence = _fence.get()
    # The name comes first, before the texts that it is needed for.
    return {FENCE: fence.name, **fence.parts(plain)} if fence else plain


def _each_string(value: Any, change: Callable[[str], str]) -> Any:
    """A value with every string in it changed, at any depth, but no key."""
    match value:
        case str():
            return change(value)
        case dict():
            return {key: _each_string(part, change) for key, part in value.items()}
        case list() | tuple():
            return [_each_string(part, change) for part in value]
    return value
