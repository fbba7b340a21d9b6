"""What an explanation of a query consists of: plain data, no Java."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class ExplainedStep:
    """A step, and the query as it is after it, in the manner of Lucene's syntax."""

    step: str
    query: str


@dataclass(frozen=True)
class ExplainedTerm:
    """A term that is looked for in a field, and the number of chunks that have it there."""

    field: str
    term: str
    document_frequency: int


@dataclass(frozen=True)
class ScorePart:
    """What the match of one term, phrase or pattern adds to a score."""

    match: str
    score: float


@dataclass(frozen=True)
class ExplainedHit:
    """How the score of a chunk came about: the parts add up to it, unless there are too many."""

    id: str
    score: float
    parts: list[ScorePart]


@dataclass(frozen=True)
class QueryExplanation:
    """Why a query finds what it finds; what was not asked for is empty.

    Attributes:
        query: what was typed.
        parsed: what was understood.
        total_hits: the number of chunks that match.
        languages: the languages whose base forms are looked for, with the weight of each.
        steps: the query after each step, in their order.
        terms: the terms that some chunk has, by field, the rarest first.
        hits: the best hits.
        notice: what was left out, else None.
        note: the same as of a search; None, and left out of answers, if there is nothing to say.
        diagnostics: why the query was not rewritten although that was wanted; else None, and left
            out of answers.
    """

    query: str
    parsed: str
    total_hits: int
    languages: dict[str, float]
    steps: list[ExplainedStep] = field(default_factory=list)
    terms: list[ExplainedTerm] = field(default_factory=list)
    hits: list[ExplainedHit] = field(default_factory=list)
    notice: str | None = None
    note: str | None = None
    diagnostics: list[str] | None = None
