"""The tools `Search` and `explain_query`, and the shortening of their answers."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Annotated, Any, Final, Literal

from pydantic import Field, WithJsonSchema
from pydantic_core import to_json, to_jsonable_python

from server.answers.text import (
    DEFAULT_CHARACTERS,
    MAX_BRIEF_CHARACTERS,
    brief,
    brief_query,
    fenced_parts,
    fit,
    json_characters,
    result_characters,
    without_others,
    without_similar_ids,
)
from server.state import ToolContext, ask
from server.tools import arguments
from shared.model.document import Metadata
from shared.model.filters import in_collection
from shared.model.request import BY_SCORE, Content, SearchRequest, group_for, versions_for
from shared.model.search_results import (
    LEFT_OUT,
    MARKS,
    ExplainedHit,
    ExplainedStep,
    ExplainedTerm,
    Facet,
    Hit,
    QueryExplanation,
    SearchAnswer,
    without_unknown,
)

_MAX_HIT_CHARACTERS_WITH_PASSAGES: Final = 960  # unless a single passage is longer

_BRIEF_CHARACTERS: Final = 6_000
"""Maximum length of an answer of ten hits whose texts are chosen by their length, in characters,
unless their ids, paths and titles alone are longer."""

_BRIEF_ENVELOPE_CHARACTERS: Final = 260  # besides the hits, without facets and long notes
_BRIEF_HITS: Final = 10  # hits that share such an answer; further ones get the same share
_MIN_PASSAGE_CHARACTERS: Final = 80  # length that is left of a passage at least, in characters
_PASSAGE_LEAD_CHARACTERS: Final = 30  # before the first match of a passage that is cut
_FACETS_BUDGET_DIVISOR: Final = 4  # all facets take at most this part of a response

_FACETS_CUT: Final = (
    "Values of facets were left out; ask for fewer facets, or for more with max_characters."
)

_VALUES_CUT: Final = (
    f"Values of facets that end in … were cut after {MAX_BRIEF_CHARACTERS} characters; filter by "
    "their beginning with the operator prefix."
)

PARTIAL: Final = (
    "The search ran out of time: results are the best of those found so far, and totalHits "
    "counts only these. Search with fewer or more specific words."
)


ContentChoice = Literal["auto", Content]  # by its length, or as for the command line


async def search(
    context: ToolContext,
    query: Annotated[
        str,
        Field(
            description='Words, or Lucene syntax: "a phrase", +required -excluded, prefix*, typo~, '
            "title:word, author:name, filetype:pdf, folder:name, language:de. An empty query "
            "matches every chunk."
        ),
    ],
    limit: arguments.Limit = 10,
    offset: arguments.Offset = 0,
    filters: Annotated[
        arguments.Filters,
        Field(
            description="Conditions on metadata, source_document, id or chunk_index, such as "
            '{"field": "year", "operator": "range", "minimum": 2020}. in and not_in take a list as '
            "value; range minimum, maximum or both, as numbers or ISO 8601 dates; exists no value. "
            "version_of takes a source_document."
        ),
    ] = [],  # noqa: B006 - pydantic copies the default for each call
    collection: arguments.CollectionName = None,
    operator: arguments.Operator = "or",
    syntax: arguments.Syntax = "auto",
    content: Annotated[
        ContentChoice,
        Field(
            description="auto: the whole text if it is short, else passages; full: the whole text; "
            "passages: parts around the matches, each in <mark></mark>; none: no text."
        ),
    ] = "auto",
    sort: arguments.Sort = BY_SCORE,
    facets: arguments.Facets = [],  # noqa: B006 - pydantic copies the default for each call
    min_confidence: arguments.MinConfidence = 0.0,
    search: arguments.Meaning = "both",
    group: arguments.Group = "auto",
    versions: arguments.Versions = "auto",
    recency: arguments.Recency = None,
    max_characters: arguments.MaxCharacters = DEFAULT_CHARACTERS,
) -> SearchAnswer:
    """Search the user's documents and return the matching chunks, best first.

    Use this first for any question the documents may answer, with a few specific words in their
    language. If a chunk ends too early, continue with get_next_chunk; if content is null, read it
    with get_document_chunks; see a table or figure of a PDF with show_page. totalHits counts all
    matching chunks. confidence, from 0 to 1, is the likelihood that a result answers the query; if
    low_confidence is true, try other words, or say that the documents probably do not answer it.
    suggestion is a corrected query: search again with it, unless suggestion_applied is true. note
    says how a doubtful query was understood. matched is meaning for a result with none of the
    words. Cite file_path, or else source_document, with section, and page_start, slide_start,
    sheet_start or line_start.
    """
    grouped = group_for(group, content, sort)
    request = SearchRequest(
        query,
        limit=limit,
        offset=offset,
        filters=[*filters, *in_collection(collection)],
        operator=operator,
        syntax=syntax,
        content="both" if content == "auto" else content,
        sort=sort,
        facets=facets,
        min_confidence=min_confidence,
        search=search,
        recency=recency,
        group=grouped,
        versions=versions_for(versions, grouped, filters),
    )
    state = context.request_context.lifespan_context
    answer = await state.search(request, context.report_progress)
    shown = brief_query(query, max_characters)
    suggestion, rewritten, note = (
        text and brief_query(text, max_characters)
        for text in (answer.suggestion, answer.rewritten, answer.note)
    )
    counted, facets_cut = _brief_facets(answer.facets, max_characters)
    hits = (
        _brief_hits([_brief_others(hit) for hit in answer.results])
        if content == "auto"
        else [_brief_passages(hit) for hit in answer.results]
    )
    outside = [shown, suggestion, counted, rewritten, answer.diagnostics, note]
    results, cut = fit(hits, max_characters, outside=outside)
    notices = [PARTIAL if answer.partial else None, facets_cut, cut]
    return replace(
        answer,
        query=shown,
        suggestion=suggestion,
        rewritten=rewritten,
        note=note,
        results=results,
        facets=counted,
        notice=" ".join(filter(None, notices)) or None,
    )


def _brief_others(hit: Hit) -> Hit:
    """Return the hit with passages only of the others of its document."""
    if not hit.others:
        return hit
    shorter = [replace(other, content=None, char_start=None, char_end=None) for other in hit.others]
    return replace(hit, others=shorter)


def _with_places(hit: Hit) -> Hit:
    """Return the hit without the texts of the others of its document."""
    bare = [replace(other, passages=None) for other in _brief_others(hit).others or ()]
    return replace(hit, others=bare or hit.others)


def _without_last_passage(hit: Hit) -> Hit:
    return replace(hit, passages=(hit.passages or [])[:-1])


def _brief_passages(hit: Hit) -> Hit:
    """Drop the last passages of a hit so that ten hits fit into 10,000 characters.

    The passages of the others of its document go before its own, and the others themselves last.
    """
    steps = [without_similar_ids]
    if hit.passages is not None:
        last = [_without_last_passage] * (len(hit.passages) - 1)
        steps = [_with_places, without_similar_ids, *last, without_others]
    for shorten in steps:
        if result_characters(hit) <= _MAX_HIT_CHARACTERS_WITH_PASSAGES:
            break
        hit = shorten(hit)
    return hit


def _brief_hits(hits: Sequence[Hit]) -> list[Hit]:
    """Choose the text of each hit by its length: all of it, or passages if that is too long."""
    room = _BRIEF_CHARACTERS - _BRIEF_ENVELOPE_CHARACTERS
    room = room * max(len(hits), _BRIEF_HITS) // _BRIEF_HITS
    lengths = [_lengths(hit) for hit in hits]
    least = [_brief_form(hit, of, 0).length for hit, of in zip(hits, lengths, strict=True)]
    most = [2 + sum(of.values()) - of["passages"] + _length("passages", None) for of in lengths]
    share = _share(least, most, room)
    return [_brief_form(hit, of, share).hit() for hit, of in zip(hits, lengths, strict=True)]


def _share(least: Sequence[int], most: Sequence[int], room: int) -> int:
    """Return the greatest share with which all hits fit into the room.

    No hit falls below its least length, or needs more than its greatest.
    """

    def size(share: int) -> int:
        return sum(max(few, min(share, all_)) for few, all_ in zip(least, most, strict=True))

    return max(0, bisect_right(range(room + 1), room, key=size) - 1)


class _Form:
    """A hit with some fields changed, and its length.

    Lengths are those of `result_characters`, of which a search needs some hundred: only that of
    what changes is measured again.
    """

    def __init__(self, hit: Hit, lengths: Mapping[str, int], most: int) -> None:
        self._hit = hit
        self._lengths = lengths
        self._most = most
        self._changed: Mapping[str, Any] = {}

    @property
    def length(self) -> int:
        return 2 + sum(self._lengths.values())

    @property
    def excess(self) -> int:
        return self.length - self._most

    def put(self, **values: Any) -> None:
        """Change some fields."""
        self._changed = {**self._changed, **values}
        lengths = {name: _length(name, value) for name, value in values.items()}
        self._lengths = {**self._lengths, **lengths}

    def put_if_it_fits(self, **values: Any) -> bool:
        """Make some fields longer, unless the hit would become too long."""
        if self.excess > 0:
            return False
        before = self._changed, self._lengths
        self.put(**values)
        fits = self.excess <= 0
        if not fits:
            self._changed, self._lengths = before
        return fits

    def hit(self) -> Hit:
        return replace(self._hit, **self._changed)


def _brief_form(hit: Hit, lengths: Mapping[str, int], share: int) -> _Form:
    shown = _Form(hit, lengths, share)
    shown.put(passages=None)
    if shown.excess <= 0:
        return shown
    shown.put(metadata={}, char_start=None, char_end=None)
    if hit.others:
        shown.put(others=[], more=(hit.more or 0) + len(hit.others))
    if hit.similar_documents:
        shown.put(similar_documents=replace(hit.similar_documents, ids=[]))
    if shown.excess > 0:
        _put_passages(shown, hit.passages or [])
    if hit.others:
        for others in (hit.others, _with_places(hit).others):
            if shown.put_if_it_fits(others=others, more=hit.more):
                break
    shown.put_if_it_fits(similar_documents=hit.similar_documents)
    metadata: Metadata = {}
    for key, value in hit.metadata.items():
        if shown.put_if_it_fits(metadata={**metadata, key: value}):
            metadata[key] = value
    return shown


def _put_passages(shown: _Form, passages: list[str]) -> None:
    """Replace the text by passages: as many as fit, but at least a part of the first."""
    shown.put(content=None, passages=passages)
    while len(passages) > 1 and shown.excess > 0:
        passages = passages[:-1]
        shown.put(passages=passages)
    if passages and shown.excess > 0:
        room = max(_MIN_PASSAGE_CHARACTERS, json_characters(passages[0]) - shown.excess)
        shown.put(passages=[_around_match(passages[0], room)])


def _lengths(hit: Hit) -> dict[str, int]:
    """Return the length of each field of a hit in the response's JSON."""
    return {field.name: _length(field.name, getattr(hit, field.name)) for field in fields(Hit)}


def _length(name: str, value: Any) -> int:
    """Return the length of a field, with its name and its comma; 0 if it is left out."""
    if value is None:
        return 0 if name in LEFT_OUT else len(f'"{name}":null,')
    plain = fenced_parts(without_unknown({name: to_jsonable_python(value)}))
    return len(to_json(plain).decode()) - 1


def _around_match(passage: str, most: int) -> str:
    """Return the part of a passage around its first match, with at most so many characters."""
    begin, end = MARKS
    start = min(passage.find(begin) - _PASSAGE_LEAD_CHARACTERS, len(passage) - most)
    start = max(0, start)
    while start and not passage[start - 1].isspace() and passage[start : start + 1] != begin[0]:
        start += 1
    part = passage[start : start + most]
    while part and (json_characters(part) > most or part.count(begin) > part.count(end)):
        part = part[: part.rfind(begin)] if part.count(begin) > part.count(end) else part[:-1]
    return part.strip()


def _brief_facets(facets: Sequence[Facet], budget: int) -> tuple[list[Facet], str | None]:
    """Cut long facet values, and drop the facets that exceed their part of a response."""
    shorter = [
        replace(facet, values=[replace(entry, value=brief(entry.value)) for entry in facet.values])
        for facet in facets
    ]
    kept, cut_out = fit(shorter, budget // _FACETS_BUDGET_DIVISOR, reserve=0)
    notices = [_FACETS_CUT if cut_out else None, _VALUES_CUT if shorter != [*facets] else None]
    return kept, " ".join(filter(None, notices)) or None


_AS_IN_SEARCH: Final = WithJsonSchema(
    {"type": "array", "items": {"type": "object"}, "description": "As in Search."}
)


async def explain_query(
    context: ToolContext,
    query: Annotated[str, Field(description="The query, as for Search.")],
    detail: arguments.Detail = "parsed",
    limit: Annotated[int, Field(ge=1, le=20, description="Hits to explain.")] = 3,
    offset: arguments.Offset = 0,
    filters: Annotated[arguments.Filters, _AS_IN_SEARCH] = [],  # noqa: B006 - as above
    operator: Annotated[arguments.Operator, Field(description="As in Search.")] = "or",
    syntax: Annotated[arguments.Syntax, Field(description="As in Search.")] = "auto",
    search: Annotated[arguments.Meaning, Field(description="As in Search.")] = "both",
    recency: arguments.Recency = None,
    max_characters: arguments.MaxCharacters = DEFAULT_CHARACTERS,
) -> QueryExplanation:
    """Explain the results of a query, or why it has none.

    Use this when Search misses an expected result or ranks it low, to learn how the query was
    parsed, how many chunks contain each word, and what each adds to a score; then search again with
    other words. suggest_terms lists words of the index.
    """
    rewriting = await context.request_context.lifespan_context.rewriting(query, syntax)
    request = SearchRequest(
        query,
        limit=limit,
        offset=offset,
        filters=filters,
        operator=operator,
        syntax=syntax,
        rewritten=rewriting.rewritten,
        search=search,
        recency=recency,
    )
    answer = await ask(context, lambda searcher: searcher.explain(request, detail=detail))
    return _fit_explanation(replace(answer, diagnostics=rewriting.diagnostics), max_characters)


_Explained = ExplainedStep | ExplainedHit | ExplainedTerm


def _fit_explanation(explanation: QueryExplanation, budget: int) -> QueryExplanation:
    """Fit an explanation into a budget; its terms are cut first, its steps last."""
    query, parsed = (brief_query(text, budget) for text in (explanation.query, explanation.parsed))
    note = explanation.note and brief_query(explanation.note, budget)
    parts: list[_Explained] = [*explanation.steps, *explanation.hits, *explanation.terms]
    kept, cut = fit(parts, budget, outside=[query, parsed, note])
    return replace(
        explanation,
        query=query,
        parsed=parsed,
        note=note,
        steps=[part for part in kept if isinstance(part, ExplainedStep)],
        hits=[part for part in kept if isinstance(part, ExplainedHit)],
        terms=[part for part in kept if isinstance(part, ExplainedTerm)],
        notice=" ".join(filter(None, (explanation.notice, cut))) or None,
    )
