"""The step for wildcards: folded like the words of the index, and put on the field that is fast."""

import re
from typing import Final

from shared import schema
from shared.analysis.analyzers import normalized
from shared.query import weights
from shared.query.tree import Everything, Leaf, Node, Occur, Pattern, Wildcard, any_of, weighted

_SCORED_PREFIX: Final = 4
"""Letters from which on a beginning says so much that its terms are scored one by one."""

_PART: Final = re.compile(r"(?P<wildcards>[*?]+)|(?P<letters>(?:\\.|[^*?\\])+)", re.DOTALL)
_END: Final = re.compile(r"\*((?:\\.|[^*?\\])+)", re.DOTALL)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_WILDCARD: Final = re.compile(r"[\\*?]")
_FIELDS: Final = {
    schema.CONTENT: weights.CONTENT,
    schema.TITLE: weights.TITLE,
    schema.IDENTIFIERS: weights.OTHER_FIELDS[schema.IDENTIFIERS],
}


def on_fields(leaf: Leaf, _: Occur) -> Node:
    """Put a word with wildcards on the fields that it is looked for in.

    A pattern that begins with ``*`` is looked for backwards, since terms are sorted by their
    beginnings. One with ``*`` on both sides matches as a beginning, as an end, and within words.
    """
    if not isinstance(leaf, Wildcard):
        return leaf
    if leaf.field is None and not leaf.pattern.strip("*"):
        return Everything()
    if leaf.field is None and (end := _END.fullmatch(leaf.pattern)):
        return weighted(_suffix(_folded(schema.CONTENT, end[1])), weights.CONTENT)
    names = [leaf.field] if leaf.field else list(_FIELDS)
    return any_of(*(weighted(_on(name, leaf.pattern), _FIELDS.get(name, 1.0)) for name in names))


def _on(field: str, pattern: str) -> Node:
    if schema.is_keyword_field(field):
        return Pattern(field, pattern, scored=False)
    parts = [(part["wildcards"], part["letters"]) for part in _PART.finditer(pattern)]
    parts = [(wildcards, letters and _folded(field, letters)) for wildcards, letters in parts]
    folded = "".join(wildcards or letters for wildcards, letters in parts)
    match parts:
        case [(None, letters), ("*", None)]:
            return _prefix(field, letters)
        case [("*", None), (None, letters), ("*", None)] if field == schema.CONTENT:
            return any_of(
                _prefix(field, letters),
                _suffix(letters),
                weighted(Pattern(field, folded, scored=False), weights.PATTERN),
            )
    return _with_the_rest(Pattern(field, folded, scored=True))


def _prefix(field: str, letters: str) -> Node:
    pattern = Pattern(field, f"{letters}*", scored=len(letters) >= _SCORED_PREFIX)
    return _with_the_rest(pattern) if pattern.scored else pattern


def _suffix(letters: str) -> Node:
    backwards = "".join(reversed(_ESCAPED.sub(r"\1", letters)))
    return _prefix(schema.REVERSED, _WILDCARD.sub(r"\\\g<0>", backwards))


def _with_the_rest(pattern: Pattern) -> Node:
    """Score the terms that say most, and match all others, however many there are."""
    rest = Pattern(pattern.field, pattern.pattern, scored=False)
    return any_of(pattern, weighted(rest, weights.PATTERN))


def _folded(field: str, letters: str) -> str:
    plain = normalized(field, _ESCAPED.sub(r"\1", letters))
    return _WILDCARD.sub(r"\\\g<0>", plain)
