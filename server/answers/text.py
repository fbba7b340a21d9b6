"""Texts in a response, shortened, joined from chunks and fenced, and the URIs of what it names.

With ``--fence`` each response has its own pair of tags, which no document can know
(`shared.document_tags`), so that a model can distinguish texts of documents from all else. Values
that tools take as arguments are not fenced: ids, paths, the query and its suggested correction,
which consists of words that are spelled like the query's own.

An id in a URI may contain any characters; all but letters, digits and ``-._~`` are percent-encoded
(RFC 3986, sections 2.1 and 2.3). Parsing is lenient: an id may be unencoded unless it contains
``?`` or ``%``. An id is looked up in the index and never used as the path of a file.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlencode

from pydantic_core import to_json

from server.answers.errors import ResourceNotFoundError
from shared.document_tags import new_tag, tagged
from shared.messages import is_plain_word, shortened
from shared.model.document import addition
from shared.model.metadata import HIDDEN_TEXT
from shared.model.search_results import ChunkText

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


class Joined(NamedTuple):
    """The part of a text that fits, the number of its last chunk, and whether that chunk is cut."""

    text: str
    end: int
    is_cut: bool


def joined(chunks: Sequence[ChunkText], budget: int) -> Joined:
    """Join chunks as far as they fit; the first is cut if it does not fit by itself."""
    first, *others = chunks
    left = budget - json_characters(fenced(first.content))
    if left < 0:
        return Joined(cut(first.content, -left), first.chunk_index, is_cut=True)
    parts, last = [first.content], first
    for chunk in others:
        part = addition(chunk.content, *_characters(chunk), _characters(last)[1])
        left -= json_characters(part)
        if left < 0:
            break
        parts.append(part)
        last = chunk
    return Joined("".join(parts), last.chunk_index, is_cut=False)


def _characters(chunk: ChunkText) -> tuple[int, int]:
    """Return the offsets of a chunk in the text of its document, which every chunk has."""
    return chunk.char_start or 0, chunk.char_end or 0


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
