"""Responses that fit a model's context: their texts, shortened and fenced, and URIs in them.

The length of a response is the number of characters of its JSON text, fences included. The texts of
the last results are cut first, then their metadata and titles; a result whose ids alone are too
long is left out.

With ``--fence`` each response has its own pair of tags, which no document can know
(`shared.messages`), so that a model can distinguish texts of documents from all else. Values
that tools take as arguments are not fenced: ids, paths, the query and its suggested correction,
which consists of words that are spelled like the query's own.

An id in a URI may contain any characters; all but letters, digits and ``-._~`` are percent-encoded
(RFC 3986, sections 2.1 and 2.3). Parsing is lenient: an id may be unencoded unless it contains
``?`` or ``%``. An id is looked up in the index and never used as the path of a file.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any, Final, Literal, TypeVar
from urllib.parse import parse_qsl, quote, unquote, urlencode

from pydantic_core import to_json, to_jsonable_python

from server.administration.results import RememberedDirectory
from server.answers.errors import AnswerTooLongError, ResourceNotFoundError
from shared.messages import is_plain_word, new_tag, quantity, shortened, tagged
from shared.model.document import Scalar
from shared.model.index_results import (
    DocumentDetails,
    DocumentSummary,
    FailedFile,
    FieldDescription,
    TermCount,
)
from shared.model.metadata import HIDDEN_TEXT
from shared.model.search_results import (
    ChunkText,
    ExplainedStep,
    ExplainedTerm,
    Facet,
    Hit,
    SimilarChunk,
    without_unknown,
)

DEFAULT_CHARACTERS: Final = 40_000  # default maximum length of a response, in characters

MAX_CHARACTERS: Final = 1_000_000
"""Upper limit of the length that a client can request, in characters."""

_QUERY_BUDGET_DIVISOR: Final = 8
"""Divisor of the budget: a query, or a form of it, takes at most this part of a response."""

MAX_BRIEF_CHARACTERS: Final = 200  # of a shortened title


def brief_query(query: str, budget: int) -> str:
    """Shorten a query or a prefix for repetition in a response with this budget."""
    longest = budget // _QUERY_BUDGET_DIVISOR
    # A character takes up to six in JSON.
    return query if json_characters(query) <= longest else shortened(query, longest // 6 - 1)


def brief(title: str) -> str:
    return shortened(title, MAX_BRIEF_CHARACTERS)


def json_characters(text: str) -> int:
    """Return the length of a text in JSON, without quotes."""
    return len(to_json(text).decode()) - 2


def fitting(texts: Iterable[str], budget: int) -> int:
    """Return the number of leading texts that fit into a budget as JSON strings."""
    lengths = accumulate(json_characters(text) + 3 for text in texts)
    return sum(length <= budget for length in lengths)


def cut(text: str, excess: int) -> str:
    """Shorten a text by at least `excess` JSON characters; each character takes one or more."""
    kept = len(text) - excess - 1
    return f"{text[:kept]}…" if kept > 0 else ""


FENCE: Final = "fence"  # field of a response that contains the name of its tags

_ALWAYS_FENCED: Final = frozenset(
    {"content", "text", "passages", "preview", "title", "reason", "problems", HIDDEN_TEXT}
)
"""Fields whose values are always fenced."""

_FENCED_UNLESS_PLAIN: Final = frozenset(
    {
        *("metadata", "value", "examples", "term", "match", "language"),
        *("section", "sheet_start", "sheet_end", "name", "query_name", "languages", "formats"),
    }
)
"""Fields whose keys and values are fenced unless they are plain words."""


class Fence:
    """The tags of one response."""

    def __init__(self) -> None:
        self.name = new_tag()

    def around(self, text: str) -> str:
        """Return the text between the tags, or the empty string for an empty text."""
        return tagged(text, self.name)

    def parts(self, plain: Any) -> Any:
        """Fence all document texts in a response or a part of one."""
        match plain:
            case {"step": str(), "query": str(query)}:
                # The query after a rewriting step may contain words of documents.
                return {**plain, "query": self.around(query)}
            case dict():
                # Keys of metadata are chosen by documents, too.
                return {self._value(name): self._part(name, part) for name, part in plain.items()}
            case list() | tuple():
                return [self.parts(part) for part in plain]
        return plain

    def _part(self, name: str, part: Any) -> Any:
        if name in _ALWAYS_FENCED:
            return self._each(part, self.around)
        if name in _FENCED_UNLESS_PLAIN:
            return self._each(part, self._value)
        return self.parts(part)

    def _each(self, value: Any, change: Callable[[str], str]) -> Any:
        """Apply a function to every string in a value, at any depth, and fence its keys."""
        match value:
            case str():
                return change(value)
            case dict():
                # Of one word, too, a model should know that nobody sees it.
                of = {HIDDEN_TEXT: self.around}
                return {
                    self._value(key): self._each(part, of.get(key, change))
                    for key, part in value.items()
                }
            case list() | tuple():
                return [self._each(part, change) for part in value]
        return value

    def _value(self, value: str) -> str:
        return value if is_plain_word(value) else self.around(value)


_fence: ContextVar[Fence | None] = ContextVar("fence", default=None)
"""The fence of the current response, in a context variable so that no tool can forget it."""


@contextmanager
def one_answer() -> Iterator[Fence]:
    fence = Fence()
    token = _fence.set(fence)
    try:
        yield fence
    finally:
        _fence.reset(token)


def current_fence() -> Fence | None:
    return _fence.get()


def fenced(text: str) -> str:
    fence = _fence.get()
    return fence.around(text) if fence else text


def fenced_parts(plain: Any) -> Any:
    """Fence a part of a response, given as plain data, if the current response has a fence."""
    fence = _fence.get()
    return fence.parts(plain) if fence else plain


def fenced_answer(plain: dict[str, Any]) -> dict[str, Any]:
    """Fence a response, given as plain data, and add the name of its tags, if it has a fence."""
    fence = _fence.get()
    # The name precedes the texts that need it.
    return {FENCE: fence.name, **fence.parts(plain)} if fence else plain


ENVELOPE_CHARACTERS: Final = 1_000
"""Characters reserved for the rest of the response, including the notice."""

_MAX_SHORTENED_VALUES: Final = 20  # values kept for a metadata key whose values are cut

Item = TypeVar("Item")
ChunkItem = TypeVar("ChunkItem", ChunkText, SimilarChunk, Hit)


def fit(
    items: Sequence[Item],
    budget: int,
    *,
    outside: object = "",
    reserve: int = ENVELOPE_CHARACTERS,
) -> tuple[list[Item], str | None]:
    """Fit results, the most important first, into the characters of a whole response.

    `outside` is other data of variable length in it. Return the results that fit, the last ones cut
    short, and a notice of what was cut; None if nothing was.
    """
    left = budget - reserve - len(to_json(fenced_parts(to_jsonable_python(outside))).decode())
    kept: list[Item] = []
    shortened = 0
    for item in items:
        excess = result_characters(item) - left
        fitting = item
        if excess > 0 and (shorten := _SHORTER.get(type(item))):
            fitting = shorten(item, excess)
        if result_characters(fitting) > left:
            continue
        shortened += excess > 0
        kept.append(fitting)
        left -= result_characters(fitting)
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
    if json_characters(text) > budget - ENVELOPE_CHARACTERS:
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
    most = result_characters(hit) - excess
    for shorten in (without_others, without_similar_ids):
        hit = shorten(hit)
        if result_characters(hit) <= most:
            return hit
    shorter = shorten_chunk(hit, result_characters(hit) - most)
    if shorter.content or hit.passages is None:
        return shorter
    return replace(shorter, passages=[])


def without_others(hit: Hit) -> Hit:
    if not hit.others:
        return hit
    return replace(hit, others=[], more=(hit.more or 0) + len(hit.others or ()))


def without_similar_ids(hit: Hit) -> Hit:
    """Return the hit with the number of similar documents only."""
    similar = hit.similar_documents
    return replace(hit, similar_documents=similar and replace(similar, ids=[]))


def _shorter_facet(facet: Facet, excess: int) -> Facet:
    most = result_characters(facet) - excess
    while facet.values and result_characters(facet) > most:
        facet = replace(facet, values=facet.values[:-1])
    return facet


def _shorter_details(details: DocumentDetails, excess: int) -> DocumentDetails:
    """Return the document with long metadata cut, or without metadata and with a short title."""
    shorter = replace(
        details, metadata={key: _brief_value(value) for key, value in details.metadata.items()}
    )
    if result_characters(details) - result_characters(shorter) >= excess:
        return shorter
    return replace(details, metadata={}, title=brief(details.title))


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


def result_characters(item: Any) -> int:
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


Kind = Literal["document", "chunk", "page", "statistics", "field", "language"]

FORMS: Final[Mapping[Kind, str]] = {
    "document": "document://{id}",
    "chunk": "chunk://{id}",
    "page": "page://{id}",
    "statistics": "index://stats",
    "field": "index://fields/{field}",
    "language": "index://languages/{language}",
}
"""The URI template of each kind (RFC 6570), without options."""

_PREFIXES: Final = {kind: form.partition("{")[0] for kind, form in FORMS.items()}

MAX_URI_CHARACTERS: Final = 150_000
"""Maximum length of a URI, in characters: an id has at most 10,000, each of which takes up to
12."""

_MAX_OPTIONS: Final = 10


@dataclass(frozen=True)
class ResourceUri:
    kind: Kind
    name: str = ""
    options: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        query = f"?{urlencode(self.options)}" if self.options else ""
        return _PREFIXES[self.kind] + quote(self.name, safe="") + query


def parse(uri: str) -> ResourceUri:
    if len(uri) > MAX_URI_CHARACTERS:
        raise ResourceNotFoundError(uri, f"a URI has at most {MAX_URI_CHARACTERS:,} characters")
    path, _, query = uri.partition("?")
    scheme, separator, rest = path.partition("://")
    path = f"{scheme.lower()}{separator}{rest}"
    for kind, prefix in _PREFIXES.items():
        is_of_kind = path == prefix if kind == "statistics" else path.startswith(prefix)
        if is_of_kind:
            name = _decoded(uri, path.removeprefix(prefix))
            return ResourceUri(kind, name, _options(uri, query) if query else {})
    raise ResourceNotFoundError(uri, f"a URI has one of the forms {', '.join(FORMS.values())}")


def _decoded(uri: str, name: str) -> str:
    try:
        decoded = unquote(name, errors="strict")
        decoded.encode()
    except UnicodeError as error:
        shown = uri.encode(errors="backslashreplace").decode()
        raise ResourceNotFoundError(shown, "its encoded text is not valid UTF-8") from error
    return decoded


def _options(uri: str, query: str) -> dict[str, str]:
    try:
        return dict(parse_qsl(query, True, strict_parsing=True, max_num_fields=_MAX_OPTIONS))
    except ValueError as error:
        raise ResourceNotFoundError(
            uri,
            f"the part after the question mark is not valid ({error}); a question mark in a name "
            "is written %3F",
        ) from error
