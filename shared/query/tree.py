"""Query tree: plain values between the text of a query and Lucene, which the steps rewrite.

Leaves whose field is None are searched in all searched fields; the steps put them on fields. The
text of a tree is in a notation like Lucene's classic syntax, as `explain` shows it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

Occur = Literal["should", "must", "must_not", "rank"]
"""Role of a part; one that ``rank`` only adds to the score of other matches."""

_WILDCARD: Final = re.compile(r"[\\*?]")
_PIECE: Final = re.compile(r"([*?]+)|((?:\\.|[^*?\\])+)", re.DOTALL)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_LETTERS: Final = re.compile(r"(?:[^\\*?]|\\.)*", re.DOTALL)


def escaped(letters: str) -> str:
    """Return letters as in a pattern, in which a backslash escapes a wildcard."""
    return _WILDCARD.sub(r"\\\g<0>", letters)


def pieces(pattern: str) -> list[tuple[str, str]]:
    """Return the parts of a pattern: either wildcards or other letters, the other one empty."""
    return _PIECE.findall(pattern)


def unescaped(pattern: str) -> str:
    """Return a pattern without the backslashes that escape the next character."""
    return _ESCAPED.sub(r"\1", pattern)


class Node:
    """Part of a tree; its text is made by the table `_NOTATION`."""

    __slots__ = ()

    def __str__(self) -> str:
        text = _NOTATION[type(self)](self)
        field = getattr(self, "field", None)
        return text if field is None else f"{field}:{text}"


@dataclass(frozen=True, slots=True)
class Everything(Node):
    """A query that matches every chunk, with the same score."""


@dataclass(frozen=True, slots=True)
class Nothing(Node):
    """A query that matches no chunk, such as a word without a letter."""


@dataclass(frozen=True, slots=True)
class Word(Node):
    """A word as typed."""

    text: str
    field: str | None = None


@dataclass(frozen=True, slots=True)
class Phrase(Node):
    """Words in quotes as typed."""

    words: tuple[str, ...]
    slop: int = 0  # the number of moves that they may be apart
    field: str | None = None


@dataclass(frozen=True, slots=True)
class Wildcard(Node):
    """A word with ``*`` and ``?`` in it; a backslash escapes the next character."""

    pattern: str
    field: str | None = None


@dataclass(frozen=True, slots=True)
class Pattern(Node):
    """A pattern for terms of a field; scored by its most useful terms, or with a constant score."""

    field: str
    pattern: str
    scored: bool

    @property
    def beginning(self) -> tuple[str, str]:
        """The letters before the first wildcard, and the rest of the pattern."""
        found = _LETTERS.match(self.pattern)
        end = found.end() if found else 0
        return unescaped(self.pattern[:end]), self.pattern[end:]


@dataclass(frozen=True, slots=True)
class Fuzzy(Node):
    """Words within some changed letters, with the same letters at the beginning."""

    text: str
    edits: int
    prefix: int = 0  # the number of these letters
    field: str | None = None


@dataclass(frozen=True, slots=True)
class Expression(Node):
    """A regular expression for whole words."""

    pattern: str
    field: str | None = None


@dataclass(frozen=True, slots=True)
class ValueWords(Expression):
    """Values that contain consecutive words; the pattern has no optional operators of Lucene."""

    words: str = ""  # as typed


@dataclass(frozen=True, slots=True)
class Range(Node):
    """A range of words or numbers; None is an open bound."""

    low: str | None
    high: str | None
    includes_low: bool = True
    includes_high: bool = True
    field: str | None = None


@dataclass(frozen=True, slots=True)
class Terms(Node):
    """Terms of a field that are scored as one, such as the stems of a word."""

    field: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Values(Node):
    """Whole values of a field, any of which matches, without a score of their own."""

    field: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Between(Node):
    """Whole numbers of a field from ``low`` to ``high``, both included."""

    field: str
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Exists(Node):
    """Any value of a field."""

    field: str


@dataclass(frozen=True, slots=True)
class TermPhrase(Node):
    """Consecutive terms of a field; several at one position are alternatives."""

    field: str
    positions: tuple[tuple[str, ...], ...]
    slop: int = 0


@dataclass(frozen=True, slots=True)
class Weighted(Node):
    """A part whose score is multiplied."""

    node: Node
    weight: float


@dataclass(frozen=True, slots=True)
class Clause(Node):
    """A part of several, with its role."""

    node: Node
    occur: Occur = "should"


@dataclass(frozen=True, slots=True)
class Clauses(Node):
    """Parts whose scores add up."""

    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class Best(Node):
    """Parts of which only the highest score counts."""

    nodes: tuple[Node, ...]


def _grouped(node: Node) -> str:
    return f"({node})" if isinstance(node, Clauses) else str(node)


def _phrase(words: str, slop: int) -> str:
    return f'"{words}"' + (f"~{slop}" if slop else "")


def _range(node: Range) -> str:
    opening, closing = "{["[node.includes_low], "}]"[node.includes_high]
    return f"{opening}{node.low or '*'} TO {node.high or '*'}{closing}"


_SIGNS: Final = {"should": "", "must": "+", "must_not": "-", "rank": "~"}

_NOTATION: Final[dict[type, Callable[[Any], str]]] = {
    Everything: lambda _: "*:*",
    Nothing: lambda _: "(nothing)",
    Word: lambda node: node.text,
    Phrase: lambda node: _phrase(" ".join(node.words), node.slop),
    Wildcard: lambda node: node.pattern,
    Pattern: lambda node: node.pattern + ("" if node.scored else " (constant)"),
    Fuzzy: lambda node: f"{node.text}~{node.edits}",
    Expression: lambda node: f"/{node.pattern}/",
    ValueWords: lambda node: f'"{node.words}"' if " " in node.words else node.words,
    Range: _range,
    Terms: lambda node: node.texts[0] if len(node.texts) == 1 else f"({' | '.join(node.texts)})",
    Values: lambda node: f"[{' '.join(node.texts)}]",
    Between: lambda node: f"[{node.low} TO {node.high}]",
    Exists: lambda _: "*",
    TermPhrase: lambda node: _phrase(" ".join(map("|".join, node.positions)), node.slop),
    Weighted: lambda node: f"{_grouped(node.node)}^{node.weight:.3g}",
    Clause: lambda node: f"{_SIGNS[node.occur]}{_grouped(node.node)}",
    Clauses: lambda node: " ".join(map(str, node.clauses)),
    Best: lambda node: f"best({', '.join(map(str, node.nodes))})",
}
"""Text of each node, behind its field."""


def any_of(*nodes: Node) -> Node:
    """Return a node whose score is the sum of the matching parts."""
    real = [node for node in nodes if not isinstance(node, Nothing)]
    if len(real) == 1:
        return real[0]
    return Clauses(tuple(map(Clause, real))) if real else Nothing()


def all_of(*nodes: Node) -> Node:
    """Return a node that matches if all parts match."""
    if len(nodes) == 1:
        return nodes[0]
    return Clauses(tuple(Clause(node, "must") for node in nodes)) if nodes else Nothing()


def best_of(*nodes: Node) -> Node:
    """Return a node whose score is that of the best part."""
    real = tuple(node for node in nodes if not isinstance(node, Nothing))
    if len(real) == 1:
        return real[0]
    return Best(real) if real else Nothing()


def weighted(node: Node, weight: float) -> Node:
    """Return a node whose score is multiplied by a weight."""
    if weight == 1:
        return node
    part, factor = unweighted(node)
    weight *= factor
    return part if weight == 1 or isinstance(part, Nothing) else Weighted(part, weight)


def scaled(node: Node, weight: float) -> Node:
    """Return a node whose score is multiplied by one of the weights; 0 switches it off."""
    return weighted(node, weight) if weight else Nothing()


def together(clauses: Sequence[Clause]) -> Node:
    """Return the tree of clauses on fields, without those that no chunk meets."""
    if not clauses:
        return Nothing()
    required = [clause for clause in clauses if clause.occur == "must"]
    found = [clause for clause in clauses if not isinstance(clause.node, Nothing)]
    if any(isinstance(clause.node, Nothing) for clause in required):
        return Nothing()
    is_optional = not required and any(clause.occur == "should" for clause in clauses)
    if is_optional and not any(clause.occur == "should" for clause in found):
        return Nothing()
    if [clause.occur for clause in found] == ["should"]:
        return found[0].node
    # Only terms that no chunk has were excluded.
    return Clauses(tuple(found)) if found else Everything()


def clauses_of(tree: Node) -> Sequence[Clause]:
    """Return the clauses of a query: those of the whole tree, or the tree as the only one."""
    match tree:
        case Clauses(clauses):
            return clauses
        case Nothing():
            return ()
    return (Clause(tree),)


def unweighted(node: Node) -> tuple[Node, float]:
    """Return a part without its weight, and the weight; a word that occurs twice weighs more."""
    return (node.node, node.weight) if isinstance(node, Weighted) else (node, 1.0)


def plain_word(clause: Clause) -> str | None:
    """Return the word that a clause is; None if it names a field or is more than a word."""
    node, _ = unweighted(clause.node)
    return node.text if isinstance(node, Word) and node.field is None else None


def flat(
    node: Clauses, weight: float = 1.0, *, with_ranks: bool = True
) -> list[tuple[Node, Occur]]:
    """Return the clauses of a node, with those of its optional parts on the same level.

    The scores add up either way, but on the same level Lucene can skip what cannot be among the
    best.
    """
    found: list[tuple[Node, Occur]] = []
    for clause in node.clauses:
        if clause.occur == "rank" and not with_ranks:
            continue
        part, factor = unweighted(clause.node)
        if (
            clause.occur == "should"
            and isinstance(part, Clauses)
            and {one.occur for one in part.clauses} <= {"should", "rank"}
        ):
            found += flat(part, weight * factor, with_ranks=with_ranks)
        else:
            found.append((weighted(clause.node, weight), clause.occur))
    return found


def rewrite(
    node: Node, change: Callable[[Node, Occur], Node | None], occur: Occur = "should"
) -> Node | None:
    """Replace each leaf of a parsed tree by what a function makes of it in its role.

    A part for which it returns None, such as a dash between two words, is not a condition.
    """
    match node:
        case Weighted(part, weight):
            changed = rewrite(part, change, occur)
            return changed and weighted(changed, weight)
        case Clauses(clauses):
            is_excluded = occur == "must_not"
            parts = [
                (rewrite(clause.node, change, occur if is_excluded else clause.occur), clause.occur)
                for clause in clauses
            ]
            left = [Clause(part, role) for part, role in parts if part is not None]
            return together(left) if left else None
        case Best(nodes):
            made = [rewrite(part, change, occur) for part in nodes]
            return best_of(*(part for part in made if part is not None))
    return change(node, occur)


def leaves(node: Node, *, excluded: bool = False) -> list[Node]:
    """Return the leaves of a tree; those that must not match only with `excluded`."""
    found = []
    waiting: list[Node] = [node]
    while waiting:
        part, _ = unweighted(waiting.pop())
        if isinstance(part, Clauses):
            clauses = reversed(part.clauses)
            waiting += [c.node for c in clauses if excluded or c.occur != "must_not"]
        elif isinstance(part, Best):
            waiting += reversed(part.nodes)
        else:
            found.append(part)
    return found
