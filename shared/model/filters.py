"""Filters, which every hit must meet whatever its score, and collections, which filters select."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, Self
from urllib.parse import quote

from shared.errors import ConfigurationError, FilterError
from shared.messages import did_you_mean
from shared.model.document import Scalar
from shared.model.schema import COLLECTION, FILE_PATH, VERSION_OF
from shared.settings.current import collection_settings

if TYPE_CHECKING:
    from shared.settings.model import CollectionSetting

FilterOperator = Literal["eq", "ne", "in", "not_in", "range", "exists", "prefix"]


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on one field.

    Attributes:
        field: `source_document`, `id`, `chunk_index`, a key of the documents' metadata, `folder`,
            the name or path of a folder that contains the document's file, or `version_of`, the id
            of a document, for all versions of its text.
        operator: `eq` and `ne` compare with `value`; `in` and `not_in` with each value of a list;
            `range` takes `minimum`, `maximum` or both, inclusive: two numbers, which may be written
            as text if the field has numbers, or two texts (ISO 8601 dates are ordered as text);
            `exists` needs no value; `prefix` is for text.
    """

    field: str
    operator: FilterOperator = "eq"
    value: Scalar | list[Scalar] | None = None
    minimum: Scalar | None = None
    maximum: Scalar | None = None


_CONDITION: Final = re.compile(
    r"(?P<field>[^=!<>^]+)(?P<sign>!=|>=|<=|\^=|=)(?P<value>.*)", re.DOTALL
)


def parse_filter(text: str) -> Filter:
    """Parse a filter in the notation of the command line."""
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise FilterError(
            f"the filter {text!r} is not valid; write FIELD=VALUE, FIELD!=VALUE, FIELD=A|B, "
            "FIELD^=PREFIX, FIELD>=MIN, FIELD<=MAX or FIELD=*"
        )
    field, sign, value = match["field"].strip(), match["sign"], match["value"].strip()
    match sign:
        case "^=":
            return Filter(field, "prefix", value)
        case ">=":
            return Filter(field, "range", minimum=value)
        case "<=":
            return Filter(field, "range", maximum=value)
        case "=" if value == "*":
            return Filter(field, "exists")
    choices: list[Scalar] = [*value.split("|")]
    if len(choices) > 1:
        return Filter(field, "in" if sign == "=" else "not_in", choices)
    return Filter(field, "eq" if sign == "=" else "ne", value)


@dataclass(frozen=True, slots=True)
class Collection:
    """A part of an index: the chunks that pass some filters.

    Attributes:
        description: a sentence about its documents; empty without one.
        filters: conditions that all its chunks meet.
    """

    name: str
    description: str
    filters: tuple[Filter, ...]


Collections = Mapping[str, Collection]


def only(collections: Collections, names: Iterable[str]) -> Collections:
    """Return those of some collections that are named; names that do not exist are ignored."""
    wanted = frozenset(names)
    return {name: known for name, known in collections.items() if name in wanted}


Names = tuple[frozenset[str], ...]
"""Names of collections: what is in any collection of each set."""


@dataclass(frozen=True)
class Limits:
    """Collections to which an index is limited, as if it had only their documents."""

    defined: Collections
    names: Names = ()

    @cached_property
    def collections(self) -> Collections:
        """Collections that can be named within the limits."""
        named = self.defined
        for names in self.names:
            named = only(named, names)
        return named

    @property
    def each(self) -> list[Iterable[Collection]]:
        """Collections of each limit: a chunk must be in one of each."""
        return [only(self.defined, names).values() for names in self.names]

    @property
    def name(self) -> str:
        """A name of what is within the limits, which tells it from other parts of the index.

        It is ASCII. Names that do not exist, which a token may have, can be any text.
        """
        quoted = partial(quote, safe="", errors="backslashreplace")
        return "&".join("|".join(map(quoted, sorted(names))) for names in self.names)

    def within(self, names: Iterable[str]) -> Self:
        """Return the limits for what is also in any of some collections."""
        wanted = frozenset(names)
        return replace(self, names=tuple(sorted({*self.names, wanted}, key=sorted)))


EVERYTHING: Final = Limits(MappingProxyType({}))
"""The whole index, without names for parts of it."""


def checked(names: Iterable[str], collections: Collections) -> list[Collection]:
    found = []
    for name in names:
        if name not in collections:
            known = f"there are {', '.join(collections)}" if collections else "there are none"
            hint = did_you_mean(name, collections, known)
            raise FilterError(f"there is no collection {name[:60]!r}; {hint}")
        found.append(collections[name])
    return found


def in_collection(name: str | None) -> list[Filter]:
    """Return the filter for the chunks of a collection; no filter without a name."""
    return [] if name is None else [Filter(COLLECTION, "eq", name)]


def configured_collections() -> tuple[Collection, ...]:
    """Return the collections of the configuration, which searches can name."""
    return tuple(map(as_collection, collection_settings()))


def as_collection(setting: "CollectionSetting") -> Collection:
    try:
        filters = tuple(map(parse_filter, setting.filters))
    except FilterError as error:
        raise ConfigurationError(f"the collection {setting.name}", str(error)) from error
    if any(condition.field in (COLLECTION, VERSION_OF) for condition in filters):
        raise ConfigurationError(
            f"the collection {setting.name}", "cannot be made of other collections, or of versions"
        )
    if setting.folder is not None:
        beginning = f"{setting.folder.as_posix().rstrip('/')}/"
        filters = (Filter(FILE_PATH, "prefix", beginning), *filters)
    return Collection(setting.name, setting.description, filters)
