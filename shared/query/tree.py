"""A query between its text and Lucene: a tree of plain values, which the steps rewrite.

Leaves whose field is None are meant for everything that is searched; the steps put them on fields.
The text of a tree is in the manner of Lucene's classic syntax, as `explain` shows it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

Occur = Literal["should", "must", "must_not", "rank"]
"""Whether a part may, must or must not match; ``rank`` adds to the score of what matches anyway."""

_SIGNS = {"should": "", "must": "+", "must_not": "-", "rank": "~"}


def _on(field: str | None, text: str) -> str:
    return text if field is None else f"{field}:{text}"


@dataclass(frozen=True, slots=True)
class Everything:
    """Matches every chunk, all with the same score."""

    def __str__(self) -> str:
        return "*:*"


@dataclass(frozen=True, slots=True)
class Nothing:
    """Matches no chunk, like a word without a letter."""

    def __str__(self) -> str:
        return "(nothing)"


@dataclass(frozen=True, slots=True)
class Word:
    """What stands between two blanks, as it was typed, or what is so much ``alike``, below 1."""

    text: str
    field: str | None = None
    alike: float = 1.0

    def __str__(self) -> str:
        return _on(self.field, self.text)


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words in quotes, as they were typed; ``slop`` is how many moves they may be away from it."""

    words: tuple[str, ...]
    slop: int = 0
    field: str | None = None

    def __str__(self) -> str:
        return _on(self.field, f'"{" ".join(self.words)}"' + (f"~{self.slop}" if self.slop else ""))


@dataclass(frozen=True, slots=True)
class Wildcard:
    r"""A word with ``*`` and ``?`` in it; a backslash makes the next character a letter."""

    pattern: str
    field: str | None = None

    def __str__(self) -> str:
        return _on(self.field, self.pattern)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern of one field's terms; scored by its most useful terms, or each match alike."""

    field: str
    pattern: str
    scored: bool

    def __str__(self) -> str:
        return f"{self.field}:{self.pattern}" + ("" if self.scored else " (constant)")


@dataclass(frozen=True, slots=True)
class Fuzzy:
    """Words that ``edits`` changed letters away are; the first ``prefix`` letters are the same."""

    text: str
    edits: int
    prefix: int = 0
    field: str | None = None

    def __str__(self) -> str:
        return _on(self.field, f"{self.text}~{self.edits}")


@dataclass(frozen=True, slots=True)
class Expression:
    """A regular expression for whole words."""

    pattern: str
    field: str | None = None

    def __str__(self) -> str:
        return _on(self.field, f"/{self.pattern}/")


@dataclass(frozen=True, slots=True)
class Range:
    """Words, or numbers, from one to another; None is an open end."""

    low: str | None
    high: str | None
    includes_low: bool = True
    includes_high: bool = True
    field: str | None = None

    def __str__(self) -> str:
        opening, closing = "{["[self.includes_low], "}]"[self.includes_high]
        return _on(self.field, f"{opening}{self.low or '*'} TO {self.high or '*'}{closing}")


@dataclass(frozen=True, slots=True)
class Terms:
    """Terms of one field that count as one, such as the lemmas of a word."""

    field: str
    texts: tuple[str, ...]

    def __str__(self) -> str:
        text = self.texts[0] if len(self.texts) == 1 else f"({' | '.join(self.texts)})"
        return f"{self.field}:{text}"


@dataclass(frozen=True, slots=True)
class TermPhrase:
    """Terms of one field in a row; several at one position are alternatives."""

    field: str
    positions: tuple[tuple[str, ...], ...]
    slop: int = 0

    def __str__(self) -> str:
        words = " ".join("|".join(texts) for texts in self.positions)
        return f'{self.field}:"{words}"' + (f"~{self.slop}" if self.slop else "")


@dataclass(frozen=True, slots=True)
class Weighted:
    """A part whose score is multiplied."""

    node: "Node"
    weight: float

    def __str__(self) -> str:
        return f"{_grouped(self.node)}^{self.weight:.3g}"


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of several, and whether it may, must or must not match."""

    node: "Node"
    occur: Occur = "should"

    def __str__(self) -> str:
        return f"{_SIGNS[self.occur]}{_grouped(self.node)}"


@dataclass(frozen=True, slots=True)
class Clauses:
    """Parts whose scores add up."""

    clauses: tuple[Clause, ...]

    def __str__(self) -> str:
        return " ".join(map(str, self.clauses))


@dataclass(frozen=True, slots=True)
class Best:
    """Parts of which only the one with the highest score counts."""

    nodes: tuple["Node", ...]

    def __str__(self) -> str:
        return f"best({', '.join(map(str, self.nodes))})"


Leaf = (
    Everything
    | Nothing
    | Word
    | Phrase
    | Wildcard
    | Pattern
    | Fuzzy
    | Expression
    | Range
    | Terms
    | TermPhrase
)
Node = Leaf | Weighted | Clauses | Best


def _grouped(node: Node) -> str:
    return f"({node})" if isinstance(node, Clauses) else str(node)


def any_of(*nodes: Node) -> Node:
    """A node whose score is the sum of those parts that match."""
    real = [node for node in nodes if not isinstance(node, Nothing)]
    if len(real) == 1:
        return real[0]
    return Clauses(tuple(map(Clause, real))) if real else Nothing()


def all_of(*nodes: Node) -> Node:
    """A node that matches where all of the parts do."""
    if len(nodes) == 1:
        return nodes[0]
    return Clauses(tuple(Clause(node, "must") for node in nodes)) if nodes else Nothing()


def best_of(*nodes: Node) -> Node:
    """A node whose score is that of the best of the parts."""
    real = tuple(node for node in nodes if not isinstance(node, Nothing))
    if len(real) == 1:
        return real[0]
    return Best(real) if real else Nothing()


def weighted(node: Node, weight: float) -> Node:
    """A node whose score counts so many times."""
    if isinstance(node, Weighted):
        return weighted(node.node, node.weight * weight)
    return node if weight == 1 or isinstance(node, Nothing) else Weighted(node, weight)


Change = Callable[[Leaf, Occur], Node]
"""Takes a leaf and whether it may, must or must not match; returns what takes its place."""


def rewrite(node: Node, change: Change, occur: Occur = "should") -> Node:
    """Put something in the place of each leaf.

    Args:
        node: the tree, which stays as it is.
        change: what each leaf is given to.
        occur: that of the whole tree.
    """
    match node:
        case Weighted():
            return weighted(rewrite(node.node, change, occur), node.weight)
        case Best():
            return best_of(*(rewrite(part, change, occur) for part in node.nodes))
        case Clauses():
            parts = [
                Clause(rewrite(part.node, change, _inner(occur, part.occur)), part.occur)
                for part in node.clauses
            ]
            # What has no letter, as a dash between two words, is no condition.
            left = tuple(part for part in parts if not isinstance(part.node, Nothing))
            return Clauses(left) if left else Nothing()
    return change(node, occur)


def _inner(outer: Occur, inner: Occur) -> Occur:
    if "must_not" in (outer, inner):
        return "must_not"
    return "should" if inner == "rank" else inner


def leaves(node: Node, *, excluded: bool = False) -> Iterator[Leaf]:
    """The leaves of a tree; those that must not match only with `excluded`."""
    # Generators within generators would hand each leaf through all of them.
    waiting: list[Node] = [node]
    while waiting:
        match waiting.pop():
            case Weighted(part):
                waiting.append(part)
            case Best(nodes):
                waiting += reversed(nodes)
            case Clauses(clauses):
                waiting += [c.node for c in reversed(clauses) if excluded or c.occur != "must_not"]
            case leaf:
                yield leaf


def ranks(node: Node) -> bool:
    """Whether a part of a tree only adds to the score of what matches anyway."""
    match node:
        case Weighted():
            return ranks(node.node)
        case Best():
            return any(map(ranks, node.nodes))
        case Clauses():
            return any(clause.occur == "rank" or ranks(clause.node) for clause in node.clauses)
    return False
