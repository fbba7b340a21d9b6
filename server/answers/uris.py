"""The URIs of documents, chunks and facts about the index.

An id may contain any characters; all but letters, digits and ``-._~`` are percent-encoded (RFC
3986, sections 2.1 and 2.3). Parsing is lenient: an id may be unencoded unless it contains ``?`` or
``%``. An id is looked up in the index and never used as the path of a file.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal
from urllib.parse import parse_qsl, quote, unquote, urlencode

from server.answers.errors import ResourceNotFoundError

Kind = Literal["document", "chunk", "statistics", "field", "language"]

FORMS: Final[Mapping[Kind, str]] = {
    "document": "document://{id}",
    "chunk": "chunk://{id}",
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
    """A parsed URI."""

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
