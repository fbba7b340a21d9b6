"""Step for wildcards, which are folded like the indexed words and put on the fastest field."""

import re
from typing import Final

from shared.analysis.analyzers import normalized
from shared.model import schema
from shared.model.weights import DEFAULT_WEIGHTS, Weights
from shared.query.tree import Everything, Leaf, Node, Occur, Pattern, Wildcard, any_of, weighted

_SCORED_PREFIX: Final = 4
"""Minimum number of letters of a prefix that is specific enough to score its terms one by one."""

_PART: Final = re.compile(r"(?P<wildcards>[*?]+)|(?P<letters>(?:\\.|[^*?\\])+)", re.DOTALL)
_END: Final = re.compile(r"\*((?:\\.|[^*?\\])+)", re.DOTALL)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_WILDCARD: Final = re.compile(r"[\\*?]")


def on_fields(leaf: Leaf, _: Occur, weights: Weights = DEFAULT_WEIGHTS) -> Node:
    """Put a word with wildcards on the fields in which it is searched.

    A pattern that begins with ``*`` is searched in reversed terms, since terms are sorted by their
    beginnings. One with ``*`` on both sides matches as a prefix, as a suffix, and within words.
    """
    if not isinstance(leaf, Wildcard):
        return leaf
    if leaf.field is None and not leaf.pattern.strip("*"):
        return Everything()
    if leaf.field is None and (end := _END.fullmatch(leaf.pattern)):
        return weighted(_suffix(_folded(schema.CONTENT, end[1]), weights), weights.content)
    fields = {
        schema.CONTENT: weights.content,
        schema.TITLE: weights.title,
        schema.IDENTIFIERS: weights.identifier,
    }
    if leaf.field:
        return weighted(_on(leaf.field, leaf.pattern, weights), fields.get(leaf.field, 1.0))
    return any_of(
        *(
            weighted(_on(field, leaf.pattern, weights), weight)
            for field, weight in fields.items()
            if weight
        )
    )


def _on(field: str, pattern: str, weights: Weights) -> Node:
    if schema.is_keyword_field(field):
        return Pattern(field, pattern, scored=False)
    parts = [(part["wildcards"], part["letters"]) for part in _PART.finditer(pattern)]
    parts = [(wildcards, letters and _folded(field, letters)) for wildcards, letters in parts]
    folded = "".join(wildcards or letters for wildcards, letters in parts)
    match parts:
        case [(None, letters), ("*", None)]:
            return _prefix(field, letters, weights)
        case [("*", None), (None, letters), ("*", None)] if field == schema.CONTENT:
            return any_of(
                _prefix(field, letters, weights),
                _suffix(letters, weights),
                weighted(Pattern(field, folded, scored=False), weights.pattern),
            )
    return _with_the_rest(Pattern(field, folded, scored=True), weights)


def _prefix(field: str, letters: str, weights: Weights) -> Node:
    pattern = Pattern(field, f"{letters}*", scored=len(letters) >= _SCORED_PREFIX)
    return _with_the_rest(pattern, weights) if pattern.scored else pattern


def _suffix(letters: str, weights: Weights) -> Node:
    backwards = "".join(reversed(_ESCAPED.sub(r"\1", letters)))
    return _prefix(schema.REVERSED, _WILDCARD.sub(r"\\\g<0>", backwards), weights)


def _with_the_rest(pattern: Pattern, weights: Weights) -> Node:
    """Score the most significant terms, and match all others, whatever their number."""
    rest = Pattern(pattern.field, pattern.pattern, scored=False)
    return any_of(pattern, weighted(rest, weights.pattern))


def _folded(field: str, letters: str) -> str:
    plain = normalized(field, _ESCAPED.sub(r"\1", letters))
    return _WILDCARD.sub(r"\\\g<0>", plain)
