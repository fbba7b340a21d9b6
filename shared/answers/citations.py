"""Check of an answer: each citation was offered, and its quote stands in the passage."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields

from shared.answers.quotes import is_long_enough, stands_in
from shared.answers.reply import Reply, parts_of
from shared.answers.statements import Sentence, cited_numbers, sentences
from shared.model.answers import (
    CheckedCitation,
    CitationProblem,
    Passage,
    Statement,
    StatementState,
)
from shared.model.search_results import Citation


def checked_citations(reply: Reply, passages: Sequence[Passage]) -> list[CheckedCitation]:
    """Check the citations of a reply.

    Returns the citations in the order of the text, one for each quote of a number.
    """
    offered = {passage.number: passage for passage in passages}
    return [
        citation
        for number in cited_numbers(reply.text)
        for citation in _of_number(number, reply, offered)
    ]


def checked_statements(text: str, citations: Sequence[CheckedCitation]) -> list[Statement]:
    """Return the statements of an answer, with the state of each."""
    holding = {citation.number for citation in citations if citation.holds}
    return [
        Statement(each.start, each.end, [*each.citations], _state(each, holding))
        for each in sentences(text)
    ]


def answer_confidence(citations: Sequence[CheckedCitation]) -> float:
    """Return the confidence of an answer, from 0 to 1.

    It is the highest one of the cited hits whose citations hold. Each is the probability that the
    hit answers the question; that at least one does is no less probable than that the best one
    does. A product of doubts would claim more, but hits are not independent of each other, and a
    mean would punish an answer for every further citation.
    """
    return max((citation.confidence for citation in citations if citation.holds), default=0.0)


def _state(sentence: Sentence, holding: set[int]) -> StatementState:
    if not sentence.citations:
        return "not_cited"
    return "cited" if holding.intersection(sentence.citations) else "not_proven"


def _of_number(
    number: int, reply: Reply, offered: Mapping[int, Passage]
) -> Iterator[CheckedCitation]:
    passage = offered.get(number)
    quotes = [quote for of, quote in reply.quotes if of == number]
    if passage is None:
        yield _citation(number, None, parts_of(quotes[0])[0] if quotes else None, "not_offered")
    elif not quotes:
        yield _citation(number, passage, None, "no_quote")
    else:
        for quote in quotes:
            # Several quotes on a line, unless they are one with quotation marks in it.
            whole = quote.strip()
            parts = [whole] if _problem(whole, passage) is None else parts_of(whole)
            for part in parts:
                yield _citation(number, passage, _shown(part), _problem(part, passage))


def _problem(quote: str, passage: Passage) -> CitationProblem | None:
    if not stands_in(quote, passage.content):
        return "not_in_passage"
    if not is_long_enough(quote):
        return "short_quote"
    return None


def _shown(quote: str) -> str:
    """Return a quote without the marks around it."""
    parts = parts_of(quote)
    return parts[0] if len(parts) == 1 else quote


def _citation(
    number: int, passage: Passage | None, quote: str | None, problem: CitationProblem | None
) -> CheckedCitation:
    place = {each.name: getattr(passage, each.name) for each in fields(Citation) if passage}
    return CheckedCitation(
        **place,
        number=number,
        id=passage.id if passage else None,
        title=passage.title if passage else None,
        source_document=passage.source_document if passage else None,
        quote=quote,
        holds=problem is None,
        problem=problem,
        confidence=passage.confidence if passage else 0.0,
    )
