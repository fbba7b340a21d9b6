"""Answers to questions: search, ask a model about the hits, and check what it says.

A question whose search finds nothing likely is not sent to a model, and an answer without a
citation that holds is replaced by a refusal.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import fields, replace
from time import monotonic
from typing import Final

from shared.answers.citations import answer_confidence, checked_citations, checked_statements
from shared.answers.model import ServedAnswerModel
from shared.answers.prompt import DEFAULT_TOP_K, prompt_for, read_reply, search_for, text_so_far
from shared.errors import LanguageModelError
from shared.model.answers import Answer, AnswerEvent, AnswerPart, Passage, Passages, Refusal
from shared.model.filters import Filter
from shared.model.request import SearchRequest
from shared.model.search_results import Hit, SearchAnswer

REFUSAL: Final = "The documents do not answer this question."
"""Text of a refusal."""

_MAX_HITS: Final = 100
_GROWTH: Final = 5
"""Number of hits that are enough, and the factor by which it grows while too many are alike."""

_MAX_CHARACTERS_PER_TOKEN: Final = 20
"""Maximum length of a token in a reply, in characters; usual are 3 to 5, and more are sent by a
server that ignores the limit of tokens."""

Search = Callable[[SearchRequest], Awaitable[SearchAnswer]]
"""A search of the index, such as one in a thread of a pool."""


async def answer(
    question: str,
    search: Search,
    model: ServedAnswerModel,
    *,
    top_k: int = DEFAULT_TOP_K,
    filters: Sequence[Filter] = (),
) -> Answer:
    """Answer a question from the documents, and check the answer.

    Args:
        question: the question; all of it is text, none is query syntax.
        search: searches the index.
        model: the model that is asked about the hits.
        top_k: the number of hits that it is given, from 1 to `shared.answers.prompt.MAX_TOP_K`.
        filters: conditions that every hit must meet.

    Raises:
        QueryError: the question is blank or too long.
        LanguageModelError: the model cannot be asked, or sends no answer.
        ExtraMissingError: a library of the model's client is not installed.
        ValueError: the number of hits is out of its range.
        McpLuceneError: the search failed.
    """
    events = answer_events(question, search, model, top_k=top_k, filters=filters)
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Answer):
                return event
    raise AssertionError("the last event is the answer")


async def answer_events(
    question: str,
    search: Search,
    model: ServedAnswerModel,
    *,
    top_k: int = DEFAULT_TOP_K,
    filters: Sequence[Filter] = (),
) -> AsyncGenerator[AnswerEvent]:
    """Answer a question, and yield the answer while it arrives.

    The last event is the checked `Answer`. The parts before it are unchecked: if it is no refusal,
    they are its text, else they are void. Close the iterator (`contextlib.aclosing`) to end a
    request early. The arguments and errors are those of `answer`.
    """
    request = search_for(question, top_k=top_k, filters=filters)
    model.check()
    started = monotonic()
    found = await _distinct(request, search)
    searched = monotonic()
    passages = passages_of(found)
    refusal = Answer(
        question=question,
        text=REFUSAL,
        refused=True,
        reason=_reason_not_to_ask(found),
        confidence=0.0,
        citations=[],
        statements=[],
        model=None,
        nearest=found.results,
        search_seconds=round(searched - started, 3),
        model_seconds=0.0,
    )
    if refusal.reason:
        yield refusal
        return
    yield Passages(passages)
    reply, shown = "", 0
    async with aclosing(model.reply(*prompt_for(request.query, passages))) as parts:
        async for part in parts:
            reply += part
            _check_length(reply, model)
            text = text_so_far(reply)
            if len(text) > shown:
                yield AnswerPart(text[shown:])
                shown = len(text)
    seconds = round(monotonic() - searched, 3)
    refusal = replace(refusal, model=model.name, model_seconds=seconds)
    done = _checked(refusal, reply, passages)
    if not done.refused and len(done.text) > shown:
        yield AnswerPart(done.text[shown:])
    yield done


async def _distinct(request: SearchRequest, search: Search) -> SearchAnswer:
    """Return hits with different texts: each version of a text that says something else is one."""
    limit = request.limit
    while True:
        found = await search(request)
        by_text: dict[str, Hit] = {}
        for hit in found.results:
            by_text.setdefault(" ".join((hit.content or "").split()), hit)
        is_all = len(found.results) < request.limit or request.limit > _MAX_HITS
        if is_all or len(by_text) >= limit:
            return replace(found, results=[*by_text.values()][:limit])
        request = replace(request, limit=request.limit * _GROWTH)


def passages_of(found: SearchAnswer) -> list[Passage]:
    """Return the hits of a search as numbered passages."""
    own = {"number", "content"}
    return [
        Passage(
            **{of.name: getattr(hit, of.name) for of in fields(Passage) if of.name not in own},
            number=number,
            content=hit.content or "",
        )
        for number, hit in enumerate(found.results, start=1)
    ]


def _reason_not_to_ask(found: SearchAnswer) -> Refusal | None:
    if not found.results:
        return "no_hits"
    return "low_confidence" if found.low_confidence else None


def _check_length(reply: str, model: ServedAnswerModel) -> None:
    if len(reply) > model.max_tokens * _MAX_CHARACTERS_PER_TOKEN:
        raise LanguageModelError(
            f"the language model's answer is longer than {model.max_tokens} tokens, its limit",
            "use another model or server",
        )


def _checked(refusal: Answer, reply: str, passages: Sequence[Passage]) -> Answer:
    """Return the answer of a whole reply, or the refusal in its place with its reason."""
    read = read_reply(reply)
    if not read.text:
        raise LanguageModelError("the answer of the language model is blank")
    if read.declined:
        return replace(refusal, reason="declined")
    citations = checked_citations(read, passages)
    if not any(citation.holds for citation in citations):
        return replace(refusal, reason="no_citation_holds", citations=citations)
    return replace(
        refusal,
        text=read.text,
        refused=False,
        confidence=answer_confidence(citations),
        citations=citations,
        statements=checked_statements(read.text, citations),
    )
