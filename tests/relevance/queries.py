"""The queries of the suite and what they have to find; see the files in `queries`."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_FILES: Final = Path(__file__).parent / "queries"


MAY_BE_UNSURE: Final = {"odd-input", "weak-intent"}
"""Categories of queries that may hardly have an answer although they have one: what is said beside
the question stands nowhere."""


@dataclass(frozen=True, slots=True)
class Query:
    """A query and its expectations, in ids of documents.

    A query without any expectation has only to be answered.
    """

    category: str
    query: str
    why: str = ""
    operator: str | None = None
    syntax: str | None = None
    filters: tuple[dict[str, Any], ...] = ()
    nothing: bool = False
    first: str | None = None
    top: tuple[str, ...] = ()
    finds: tuple[str, ...] = ()
    before: tuple[tuple[str, str], ...] = ()
    not_found: tuple[str, ...] = ()
    low_confidence: bool | None = None

    def __str__(self) -> str:
        return f"{self.category}: {self.query[:60]}"

    def arguments(self) -> dict[str, Any]:
        """The arguments of the tool `Search`."""
        arguments = {
            "query": self.query,
            "operator": self.operator,
            "syntax": self.syntax,
            "filters": list(self.filters) or None,
            "limit": 100,
            "content": "none",
        }
        return {name: value for name, value in arguments.items() if value is not None}

    def expects_low_confidence(self) -> bool | None:
        """Whether the answer has to say that it hardly is one; None if it may."""
        is_answered = bool(self.first or self.top) and self.category not in MAY_BE_UNSURE
        return False if self.low_confidence is None and is_answered else self.low_confidence

    def wanted(self) -> frozenset[str]:
        """The documents that have to be found."""
        pairs = (first for first, _ in self.before)
        first = () if self.first is None else (self.first,)
        return frozenset((*first, *self.top, *self.finds, *pairs))

    def named(self) -> frozenset[str]:
        """All documents that the expectations name."""
        return self.wanted() | {second for _, second in self.before} | set(self.not_found)

    def disappointments(self, hits: list[str]) -> list[str]:
        """Each expectation that the hits, best first, do not meet."""
        rank = {hit: number for number, hit in enumerate(hits, start=1)}
        missed = []
        if self.nothing and hits:
            missed.append("something is found")
        if self.first is not None and hits[:1] != [self.first]:
            missed.append(f"{self.first} is not first but {rank.get(self.first, 'missing')}")
        missed += [
            f"{wanted} is not among the first {len(self.top)}"
            for wanted in self.top
            if wanted not in hits[: len(self.top)]
        ]
        missed += [f"{wanted} is missing" for wanted in self.finds if wanted not in rank]
        missed += [
            f"{first} ({rank.get(first, 'missing')}) is not before {second} ({rank.get(second)})"
            for first, second in self.before
            if rank.get(first, len(hits) + 1) >= rank.get(second, len(hits) + 1)
        ]
        missed += [f"{unwanted} is found" for unwanted in self.not_found if unwanted in rank]
        return missed


def read() -> list[Query]:
    """All queries, in the order of the files' names and of the files."""
    return [
        Query(file.stem, **{key: _frozen(value) for key, value in entry.items()})
        for file in sorted(_FILES.glob("*.toml"))
        for entry in tomllib.loads(file.read_text("utf-8"))["query"]
    ]


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
