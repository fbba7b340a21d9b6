"""Answers to questions, with the citations that were checked. Plain data.

The names are those of ``--json`` and of the answers by HTTP, which are public.
"""

from dataclasses import dataclass, field
from typing import Literal

from shared.model.search_results import Citation, Hit

Refusal = Literal["no_hits", "low_confidence", "declined", "no_citation_holds"]
"""Reason why there is no answer: no chunk matches; none is likely to answer, so that no model was
asked; the model found no answer in the passages; or none of its citations holds."""

CitationProblem = Literal["not_offered", "no_quote", "short_quote", "not_in_passage"]
"""Reason why a citation does not hold: no passage has its number; it has no quote; its quote is too
short to prove anything; or the quote is not in the passage."""

StatementState = Literal["cited", "not_cited", "not_proven"]
"""State of a statement: it has a citation that holds, has none at all, or has only such that do not
hold."""


@dataclass(frozen=True, kw_only=True)
class Passage(Citation):
    """A chunk that a model was given to answer from.

    Attributes:
        number: the number by which the model cites it, from 1.
        content: the text that the model was given.
        confidence: the confidence of its hit, from 0 to 1.
    """

    number: int
    id: str
    title: str
    source_document: str
    chunk_index: int
    content: str
    confidence: float


@dataclass(frozen=True, kw_only=True)
class CheckedCitation(Citation):
    """A citation of an answer; an invented one has no chunk and no place.

    Attributes:
        number: its number in the text.
        id: the cited chunk; None if no passage has the number.
        quote: the words that the model quotes for it; None if there are none.
        holds: true if the quote is in the chunk.
        problem: the reason why it does not hold; None if it does.
        confidence: the confidence of the chunk's hit, from 0 to 1; 0 without a chunk.
    """

    number: int
    id: str | None
    title: str | None
    source_document: str | None
    quote: str | None
    holds: bool
    problem: CitationProblem | None
    confidence: float


@dataclass(frozen=True)
class Statement:
    """A sentence or list item of an answer.

    Attributes:
        start: the offset of its first character in the text of the answer, from 0.
        end: the offset after its last character.
        citations: the numbers of its citations.
        state: whether one of them holds.
    """

    start: int
    end: int
    citations: list[int]
    state: StatementState


@dataclass(frozen=True)
class Answer:
    """An answer that was checked, or the refusal to give one.

    Attributes:
        text: the answer, with citations such as ``[1]``; the sentence of a refusal.
        refused: true if there is no answer.
        confidence: the likelihood that the cited chunks answer the question, from 0 to 1; 0 for a
            refusal.
        citations: the citations in the order of the text, each quote of a number by itself; for a
            refusal those that do not hold.
        statements: the statements of the text in order; none for a refusal.
        model: the name of the model; None if none was asked.
        nearest: the hits that the model was given, or those of the search if none was asked; the
            best first.
    """

    question: str
    text: str
    refused: bool
    reason: Refusal | None
    confidence: float
    citations: list[CheckedCitation]
    statements: list[Statement]
    model: str | None
    nearest: list[Hit]
    search_seconds: float
    model_seconds: float


@dataclass(frozen=True)
class Passages:
    """The passages that a model is asked about, before its answer arrives."""

    passages: list[Passage] = field(default_factory=list)


@dataclass(frozen=True)
class AnswerPart:
    """A part of the text of an answer as it arrives, unchecked: the checked answer replaces it."""

    text: str


AnswerEvent = Passages | AnswerPart | Answer
"""Events of an answer, in this order: the passages once, parts of the text, and the checked answer;
only the last one if no model is asked."""
