"""Keeping an answer short enough for a model's context, and saying what was cut.

An answer is counted as the characters of its JSON text. Texts are cut first, those of the last
results; when the rest of a result is too long by itself, results are left out at the end.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from pydantic_core import to_json

from shared.results import ChunkText, DocumentSummary, Hit

DEFAULT_CHARACTERS: Final = 40_000
"""Characters of an answer unless the client asks for more."""

MAX_CHARACTERS: Final = 1_000_000
"""The most a client may ask for."""

_RESERVE: Final = 1_000
"""Characters for what surrounds the results, the notice among it."""

_INDENT: Final = 4
"""Spaces before each line of a result in the answer's JSON."""

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
        The results that fit, the texts of the last ones cut, and a notice of what was cut;
        None if nothing was.
    """
    left = budget - _RESERVE - len(to_json(outside).decode())
    kept: list[Item] = []
    shortened = 0
    for item in items:
        excess = _size(item) - left
        fitting = shorten(item, excess) if excess > 0 else item
        if _size(fitting) > left:
            break
        shortened += excess > 0
        kept.append(fitting)
        left -= _size(fitting)
    dropped = len(items) - len(kept)
    if not shortened and not dropped:
        return kept, None
    cuts = [f"the text of {shortened} results was cut short"] if shortened else []
    cuts += [f"{dropped} results were left out"] if dropped else []
    return kept, (
        f"To keep this answer under {budget:,} characters, {' and '.join(cuts)}; ask for fewer "
        f"results, or for up to {MAX_CHARACTERS:,} characters with max_characters."
    )


def shorten_chunk(chunk: ChunkText, excess: int) -> ChunkText:
    """The chunk with its text cut, or with neither text nor metadata."""
    content = _cut(chunk.content, excess)
    return replace(chunk, content=content, metadata=chunk.metadata if content else {})


def shorten_hit(hit: Hit, excess: int) -> Hit:
    """The hit with its text cut, or with neither text nor passages nor metadata."""
    content = _cut(hit.content or "", excess)
    if content:
        return replace(hit, content=content)
    return replace(
        hit,
        content=None if hit.content is None else "",
        passages=None if hit.passages is None else [],
        metadata={},
    )


def shorten_summary(summary: DocumentSummary, _excess: int) -> DocumentSummary:
    """The document without its metadata."""
    return replace(summary, metadata={})


def _cut(text: str, excess: int) -> str:
    """The text with at least `excess` characters less in JSON, where each is one or more."""
    kept = len(text) - excess - 1
    return f"{text[:kept]}…" if kept > 0 else ""


def _size(item: Any) -> int:
    """Characters of a result in the answer's JSON, with its indentation and comma."""
    text = to_json(item, indent=2).decode()
    return len(text) + _INDENT * (text.count("\n") + 1) + 2
