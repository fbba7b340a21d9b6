"""Step for filters that a query names: ``filetype:pdf``, ``folder:contracts``, ``language:de``.

Every hit must meet them, and they do not change scores. Only a part outside of parentheses, or
alone within them, is a filter; several values of one field are alternatives.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from shared.model import metadata
from shared.model.document import Scalar
from shared.model.filters import Filter
from shared.model.schema import FOLDER
from shared.query.metadata_fields import NamedFields
from shared.query.tree import (
    Clause,
    Clauses,
    Everything,
    Expression,
    Node,
    Phrase,
    Weighted,
    Wildcard,
    Word,
)

_OTHER_EXTENSIONS: Final = {
    "excel": ("xlsx",),
    "htm": ("htm", "html"),
    "html": ("htm", "html"),
    "mail": ("eml",),
    "email": ("eml",),
    "markdown": ("markdown", "md"),
    "md": ("markdown", "md"),
    "powerpoint": ("pptx",),
    "text": ("txt",),
    "word": ("docx",),
    "yaml": ("yaml", "yml"),
    "yml": ("yaml", "yml"),
}
"""Extensions that a name stands for, if they differ from the name itself."""

_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)


def take_filters(tree: Node, fields: NamedFields) -> tuple[Node, tuple[Filter, ...]]:
    """Remove the filters from a query.

    Args:
        tree: the query as parsed.
        fields: the meanings of names before a colon.

    Returns:
        The rest of the query, `Everything` if nothing is left, and the filters.
    """
    if not fields.filters:
        return tree, ()
    wanted: dict[str, list[Scalar]] = defaultdict(list)
    unwanted: dict[str, list[Scalar]] = defaultdict(list)
    left = []
    for clause in tree.clauses if isinstance(tree, Clauses) else (Clause(tree),):
        named = _named(clause.node, fields)
        if named is None:
            left.append(clause)
            continue
        name, values = named
        conditions = unwanted if clause.occur == "must_not" else wanted
        for value in values:
            field, meant = _meant(fields.filters[name] if name != FOLDER else FOLDER, value)
            conditions[field] += meant
    if not wanted and not unwanted:
        return tree, ()
    filters = (
        *(Filter(field, "in", values) for field, values in wanted.items()),
        *(Filter(field, "not_in", values) for field, values in unwanted.items()),
    )
    return _together(left), filters


def _together(clauses: Sequence[Clause]) -> Node:
    match clauses:
        case []:
            return Everything()
        case [Clause(node, "should")]:
            return node
    return Clauses(tuple(clauses))


def shown(conditions: Sequence[Filter]) -> str:
    """Return filters in a notation like Lucene's syntax, in which ``#`` precedes a filter."""
    return " ".join(
        f"{'-' if condition.operator == 'not_in' else '#'}{condition.field}:{_shown(condition)}"
        for condition in conditions
    )


def _shown(condition: Filter) -> str:
    values = condition.value if isinstance(condition.value, list) else [condition.value]
    return str(values[0]) if len(values) == 1 else f"({' '.join(map(str, values))})"


def _named(node: Node, fields: NamedFields) -> tuple[str, list[str]] | None:
    """Return the name and values of a part that is a filter; None for any other part."""
    match node:
        case Weighted(part):
            return _named(part, fields)
        case Clauses(clauses) if all(clause.occur == "should" for clause in clauses):
            parts = [_named(clause.node, fields) for clause in clauses]
            names = {part[0] if part else None for part in parts}
            name = names.pop() if len(names) == 1 else None
            values = [value for part in parts if part for value in part[1]]
            return None if name is None else (name, values)
        case Word() | Phrase() | Wildcard() | Expression() if node.field in fields.filters:
            value = _value(node)
            return None if value is None or node.field is None else (node.field, [value])
    return None


def _value(leaf: Word | Phrase | Wildcard | Expression) -> str | None:
    """Return the value of a filter; None for a leaf that is more than a value."""
    match leaf:
        case Word(text):
            return text
        case Phrase(words):
            return " ".join(words)
        case Wildcard(pattern) if leaf.field == FOLDER:
            return _ESCAPED.sub(r"\1", pattern)
        case Expression(path) if leaf.field == FOLDER:
            # The parser reads a path between slashes as a regular expression.
            return f"/{path}/"
    return None


def _meant(field: str, value: str) -> tuple[str, list[str]]:
    """Return the field and values of a filter: an extension, a type, a language, a folder."""
    if field == FOLDER:
        return field, [value]
    folded = value.lower()
    if field == metadata.FILE_EXTENSION and "/" in value:
        return metadata.FILE_TYPE, [folded]
    if field == metadata.FILE_EXTENSION:
        folded = folded.removeprefix(".")
        return field, list(_OTHER_EXTENSIONS.get(folded, (folded,)))
    return field, [folded]
