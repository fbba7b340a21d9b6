"""Keeping an answer short enough for a model's context, and saying what was cut.

An answer is counted as the characters of its JSON text. The texts of the last results are
cut first, then their metadata and titles; a result whose ids alone are too long is left out.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from pydantic import TypeAdapter
from pydantic_core import to_json

from shared.results import ChunkText, DocumentSummary, FailedFile, Hit

DEFAULT_CHARACTERS: Final = 40_000
"""Characters of an answer unless the client asks for more."""

MAX_CHARACTERS: Final = 1_000_000
"""The most a client may ask for."""

_RESERVE: Final = 1_000
"""Characters for what surrounds the results, the notice among it."""

_LONGEST_QUERY: Final = 8_000
"""Characters in JSON of a query that is repeated whole."""

_BRIEF: Final = 200
"""Characters of a title that was cut."""

_INDENT: Final = 4
"""Spaces before each line of a result in the answer's JSON."""

_ADAPTERS: Final[dict[type, TypeAdapter[Any]]] = {
    kind: TypeAdapter(kind) for kind in (ChunkText, DocumentSummary, FailedFile, Hit)
}
"""How results become JSON, without what they leave out."""

Item = TypeVar("Item")


def fit(
    items: Sequence[Item],
    budget: int,
    shorten: Callable[[Item, int], Item],
    *,
    outside: str = "",
) -> tuple[list[Item], str | None]:
    """Fit results into a budget.

    Args:
        items: results, the most important first.
        budget: characters that the whole answer may have.
        shorten: makes a result shorter by a number of characters, as far as it can.
        outside: what else of any length stands in the answer.

    Returns:
        The results that fit, the last ones cut short, and a notice of what was cut; None if
        nothing was.
    """
    left = budget - _RESERVE - len(to_json(outside).decode())
    kept: list[Item] = []
    shortened = 0
    for item in items:
        excess = _size(item) - left
        fitting = shorten(item, excess) if excess > 0 else item
        if _size(fitting) > left:
            continue
        shortened += excess > 0
        kept.append(fitting)
        left -= _size(fitting)
    dropped = len(items) - len(kept)
    if not shortened and not dropped:
        return kept, None
    cuts = [f"{shortened} results were cut short"] if shortened else []
    cuts += [f"{dropped} results were left out"] if dropped else []
    return kept, (
        f"To keep this answer under {budget:,} characters, {' and '.join(cuts)}; ask for fewer "
        f"results, or for up to {MAX_CHARACTERS:,} characters with max_characters."
    )


def shorten_chunk(chunk: ChunkText, excess: int) -> ChunkText:
    """The chunk with its text cut, or without text and metadata and with its title cut."""
    content = _cut(chunk.content, excess)
    if content:
        return replace(chunk, content=content)
    return replace(chunk, content="", metadata={}, title=_brief(chunk.title))


def shorten_hit(hit: Hit, excess: int) -> Hit:
    """The hit with its text cut, or without any text and metadata and with its title cut."""
    content = _cut(hit.content or "", excess)
    if content:
        return replace(hit, content=content)
    return replace(
        hit,
        content=None if hit.content is None else "",
        passages=None if hit.passages is None else [],
        metadata={},
        title=_brief(hit.title),
    )


def shorten_summary(summary: DocumentSummary, _excess: int) -> DocumentSummary:
    """The document without its metadata and with its title cut."""
    return replace(summary, metadata={}, title=_brief(summary.title))


def shorten_failure(failure: FailedFile, _excess: int) -> FailedFile:
    """The file with its reason cut."""
    return replace(failure, reason=_brief(failure.reason))


def brief_query(query: str) -> str:
    """A query as the answer repeats it, cut where it would fill the answer by itself."""
    return query if len(to_json(query)) <= _LONGEST_QUERY else f"{query[:1000]}…"


def _brief(title: str) -> str:
    return title if len(title) <= _BRIEF else f"{title[:_BRIEF]}…"


def _cut(text: str, excess: int) -> str:
    """The text with at least `excess` characters less in JSON, where each is one or more."""
    kept = len(text) - excess - 1
    return f"{text[:kept]}…" if kept > 0 else ""


def _size(item: Any) -> int:
    """Characters of a result in the answer's JSON, with its indentation and comma."""
    text = _ADAPTERS[type(item)].dump_json(item, indent=2).decode()
    return len(text) + _INDENT * (text.count("\n") + 1) + 2
