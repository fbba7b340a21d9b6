"""Shortening of responses to fit a model's context, with a notice about the cuts.

The length of a response is the number of characters of its JSON text, fences included. The texts of
the last results are cut first, then their metadata and titles; a result whose ids alone are too
long is left out.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Final, TypeVar

from pydantic_core import to_json, to_jsonable_python

from server.administration.results import RememberedDirectory
from server.answers.errors import AnswerTooLongError
from server.answers.text import (
    MAX_BRIEF_CHARACTERS,
    MAX_CHARACTERS,
    brief,
    brief_query,
    cut,
    fenced_parts,
    json_characters,
)
from shared.messages import quantity
from shared.model.document import Metadata, Scalar
from shared.model.index_results import (
    DocumentDetails,
    DocumentSummary,
    FailedFile,
    FieldDescription,
    TermCount,
)
from shared.model.search_results import (
    LEFT_OUT,
    MARKS,
    ChunkText,
    ExplainedHit,
    ExplainedStep,
    ExplainedTerm,
    Facet,
    Hit,
    QueryExplanation,
    SimilarChunk,
    without_unknown,
)

_ENVELOPE_CHARACTERS: Final = 1_000
"""Characters reserved for the rest of the response, including the notice."""

_MAX_HIT_CHARACTERS_WITH_PASSAGES: Final = 960
"""Maximum length of a hit with its passages, in characters, unless a single passage is longer."""

BRIEF_CHARACTERS: Final = 6_000
"""Maximum length of an answer of ten hits whose texts are chosen by their length, in characters,
unless their ids, paths and titles alone are longer."""

_BRIEF_ENVELOPE_CHARACTERS: Final = 260
"""Characters of such an answer besides its hits, without facets and long notes."""

_BRIEF_HITS: Final = 10  # hits that share such an answer; further ones get the same share
_MIN_PASSAGE_CHARACTERS: Final = 80  # length that is left of a passage at least, in characters

_PASSAGE_LEAD_CHARACTERS: Final = 30
"""Characters kept before the first match of a passage that is cut."""

_FACETS_BUDGET_DIVISOR: Final = 4
"""Divisor of the budget: all facets together take at most this part of a response."""

FACETS_CUT: Final = (
    "Values of facets were left out; ask for fewer facets, or for more with max_characters."
)

VALUES_CUT: Final = (
    f"Values of facets that end in … were cut after {MAX_BRIEF_CHARACTERS} characters; filter by "
    "their beginning with the operator prefix."
)

_MAX_SHORTENED_VALUES: Final = 20  # values kept for a metadata key whose values are cut

Item = TypeVar("Item")
ChunkItem = TypeVar("ChunkItem", ChunkText, SimilarChunk, Hit)


def fit(
    items: Sequence[Item],
    budget: int,
    *,
    outside: object = "",
    reserve: int = _ENVELOPE_CHARACTERS,
) -> tuple[list[Item], str | None]:
    """Fit results, the most important first, into the characters of a whole response.

    `outside` is other data of variable length in it. Return the results that fit, the last ones cut
    short, and a notice of what was cut; None if nothing was.
    """
    left = budget - reserve - len(to_json(fenced_parts(to_jsonable_python(outside))).decode())
    kept: list[Item] = []
    shortened = 0
    for item in items:
        excess = _size(item) - left
        fitting = item
        if excess > 0 and (shorten := _SHORTER.get(type(item))):
            fitting = shorten(item, excess)
        if _size(fitting) > left:
            continue
        shortened += excess > 0
        kept.append(fitting)
        left -= _size(fitting)
    dropped = len(items) - len(kept)
    if not shortened and not dropped:
        return kept, None
    cuts = [f"{quantity(shortened, 'result')} cut short"] if shortened else []
    cuts += [f"{quantity(dropped, 'result')} left out"] if dropped else []
    return kept, (
        f"To keep this answer under {budget:,} characters, {' and '.join(cuts)}; ask for fewer "
        f"results, or for up to {MAX_CHARACTERS:,} characters with max_characters."
    )


def check_room(text: str, budget: int) -> None:
    """Refuse a response if a text in it that cannot be cut fills the budget."""
    if json_characters(text) > budget - _ENVELOPE_CHARACTERS:
        raise AnswerTooLongError(budget)


def shorten_chunk(chunk: ChunkItem, excess: int) -> ChunkItem:
    """Return the chunk with its text cut, or without text and metadata and with a short title."""
    if content := cut(chunk.content or "", excess):
        return replace(chunk, content=content)
    return replace(
        chunk,
        content=chunk.content and "",
        metadata={},
        title=brief(chunk.title),
        section=chunk.section and brief(chunk.section),
    )


def _shorter_hit(hit: Hit, excess: int) -> Hit:
    """Return the hit cut: the others of its document first, ids of similar ones, then its text.

    If that is not enough, it has no texts and metadata, and a short title.
    """
    most = _size(hit) - excess
    for shorten in (_without_others, _without_similar_ids):
        hit = shorten(hit)
        if _size(hit) <= most:
            return hit
    shorter = shorten_chunk(hit, _size(hit) - most)
    if shorter.content or hit.passages is None:
        return shorter
    return replace(shorter, passages=[])


def brief_others(hit: Hit) -> Hit:
    """Return the hit with passages only of the others of its document."""
    if not hit.others:
        return hit
    shorter = [replace(other, content=None, char_start=None, char_end=None) for other in hit.others]
    return replace(hit, others=shorter)


def _with_places(hit: Hit) -> Hit:
    """Return the hit without the texts of the others of its document."""
    bare = [replace(other, passages=None) for other in brief_others(hit).others or ()]
    return replace(hit, others=bare or hit.others)


def _without_others(hit: Hit) -> Hit:
    if not hit.others:
        return hit
    return replace(hit, others=[], more=(hit.more or 0) + len(hit.others or ()))


def _without_similar_ids(hit: Hit) -> Hit:
    """Return the hit with the number of similar documents only."""
    similar = hit.similar_documents
    return replace(hit, similar_documents=similar and replace(similar, ids=[]))


def _without_last_passage(hit: Hit) -> Hit:
    return replace(hit, passages=(hit.passages or [])[:-1])


def brief_passages(hit: Hit) -> Hit:
    """Drop the last passages of a hit so that ten hits fit into 10,000 characters.

    The passages of the others of its document go before its own, and the others themselves last.
    """
    steps = [_without_similar_ids]
    if hit.passages is not None:
        last = [_without_last_passage] * (len(hit.passages) - 1)
        steps = [_with_places, _without_similar_ids, *last, _without_others]
    for shorten in steps:
        if _size(hit) <= _MAX_HIT_CHARACTERS_WITH_PASSAGES:
            break
        hit = shorten(hit)
    return hit


def brief_hits(hits: Sequence[Hit]) -> list[Hit]:
    """Choose the text of each hit by its length: all of it, or passages if that is too long."""
    room = BRIEF_CHARACTERS - _BRIEF_ENVELOPE_CHARACTERS
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
    low, high = 0, room
    while low < high:
        share = (low + high + 1) // 2
        sizes = [max(few, min(share, all_)) for few, all_ in zip(least, most, strict=True)]
        low, high = (share, high) if sum(sizes) <= room else (low, share - 1)
    return low


class _Form:
    """A hit with some fields changed, and its length.

    Lengths are those of `_size`, of which a search needs some hundred: only that of what changes is
    measured again.
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


def brief_facets(facets: Sequence[Facet], budget: int) -> tuple[list[Facet], str | None]:
    """Cut long facet values, and drop the facets that exceed their part of a response."""
    shorter = [
        replace(facet, values=[replace(entry, value=brief(entry.value)) for entry in facet.values])
        for facet in facets
    ]
    kept, cut_out = fit(shorter, budget // _FACETS_BUDGET_DIVISOR, reserve=0)
    notices = [FACETS_CUT if cut_out else None, VALUES_CUT if shorter != [*facets] else None]
    return kept, " ".join(filter(None, notices)) or None


def _shorter_facet(facet: Facet, excess: int) -> Facet:
    most = _size(facet) - excess
    while facet.values and _size(facet) > most:
        facet = replace(facet, values=facet.values[:-1])
    return facet


def _shorter_details(details: DocumentDetails, excess: int) -> DocumentDetails:
    """Return the document with long metadata cut, or without metadata and with a short title."""
    shorter = replace(
        details, metadata={key: _brief_value(value) for key, value in details.metadata.items()}
    )
    if _size(details) - _size(shorter) >= excess:
        return shorter
    return replace(details, metadata={}, title=brief(details.title))


def fit_explanation(explanation: QueryExplanation, budget: int) -> QueryExplanation:
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


_Explained = ExplainedStep | ExplainedHit | ExplainedTerm


def _brief_value(value: Scalar | list[Scalar]) -> Scalar | list[Scalar]:
    match value:
        case str():
            return brief(value)
        case list():
            return [
                brief(part) if isinstance(part, str) else part
                for part in value[:_MAX_SHORTENED_VALUES]
            ]
    return value


def _size(item: Any) -> int:
    """Return the length of a result in the response's JSON, with its comma and fences."""
    plain = fenced_parts(without_unknown(to_jsonable_python(item)))
    return len(to_json(plain).decode()) + 1


_SHORTER: Final[dict[type, Callable[[Any, int], Any]]] = {
    Hit: _shorter_hit,
    ChunkText: shorten_chunk,
    SimilarChunk: shorten_chunk,
    DocumentDetails: _shorter_details,
    DocumentSummary: lambda item, _: replace(item, metadata={}, title=brief(item.title)),
    Facet: _shorter_facet,
    FailedFile: lambda item, _: replace(item, reason=brief(item.reason)),
    FieldDescription: lambda item, _: replace(item, examples=[]),
    TermCount: lambda item, _: replace(item, term=brief(item.term)),
    ExplainedTerm: lambda item, _: replace(item, term=brief(item.term)),
    ExplainedStep: lambda item, excess: replace(item, query=cut(item.query, excess)),
    RememberedDirectory: lambda item, _: replace(item, include=[], exclude=[]),
}
"""Functions that shorten a result by a number of characters, as far as possible, by its type."""
