"""YAML front matter of Markdown files."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from idx.extraction.markup.obsidian import without_links
from idx.extraction.text.properties import MAX_KEYWORDS, one_line, properties
from shared.model import metadata, schema
from shared.model.document import MAX_KEY_LENGTH, Metadata, Scalar

if TYPE_CHECKING:
    from yaml import Event

MAX_FRONT_MATTER: Final = 10_000
"""Maximum length of a front matter, in characters."""

MAX_LEVELS: Final = 100
"""Maximum nesting depth of lists and objects.

YAML's parser in C composes each level in a nested call and overflows the stack: after 5,000 levels
in the main thread of a process that runs Java.
"""

_MAX_VALUES: Final = 5_000
"""Maximum number of values visited, including lists and objects; YAML aliases repeat values."""

_BLOCK: Final = re.compile(
    r"---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*\r?$", re.DOTALL | re.MULTILINE
)

_EMPTY_VALUES: Final = frozenset({"", "~", "null"})
"""Scalars that mean a missing value."""

_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{0,5}[1-9])?")
"""Pattern of numbers in their canonical form: neither 010 nor the version 3.10."""

_BEFORE_TAG: Final = re.compile(r"[\s,]+(?=#)")

_TAG_KEYS: Final = ("tags", "tag")
_AUTHOR_KEYS: Final = ("author", "authors", "creator")
_SUBJECT_KEYS: Final = ("subject", "description", "summary", "abstract")
_CREATED_KEYS: Final = ("date", "created", "published", "date_created")
_MODIFIED_KEYS: Final = ("modified", "updated", "lastmod", "last_modified", "date_modified")
_LANGUAGE_KEYS: Final = ("lang", "language")
_GENERATOR_KEYS: Final = ("generator",)

_KEYS_OF_ALL_FORMATS: Final = frozenset(
    {
        *("title", metadata.AUTHOR, metadata.SUBJECT, metadata.KEYWORDS, metadata.LANGUAGE),
        *(metadata.CREATED, metadata.MODIFIED, metadata.CREATOR),
    }
)
"""Keys that every format may have, and that are read as such."""

_RESERVED_KEYS: Final = frozenset(
    {
        *(metadata.FILE_TYPE, metadata.THREAD, *schema.RESERVED_KEYS),
        *(metadata.ONLY_WITH_DOCUMENTS - _KEYS_OF_ALL_FORMATS),
    }
)
"""Keys of what is known of a file: one that a file gives itself begins with ``x-``."""


class FrontMatter(NamedTuple):
    """Front matter of a file.

    Attributes:
        said: the mapping of properties; empty if there is none.
        end: the offset of the text after it, where the search for headings starts.
        warnings: problems of the front matter.
    """

    said: Mapping[object, object] = {}
    end: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def title(self) -> str | None:
        """Title; None if there is none."""
        return one_line(next(_texts(self.said, ("title",)), None))


def front_matter(text: str) -> FrontMatter:
    """Parse the front matter of a text; invalid YAML results in no properties and a warning."""
    if not text.startswith("---"):
        return FrontMatter()
    found = _BLOCK.match(text, 0, MAX_FRONT_MATTER)
    if not found:
        return FrontMatter()
    import yaml

    # Programs write long front matter, and the parser written in C is ten times as fast. All
    # scalars stay texts: YAML 1.1 converts the language "no" to a Boolean, and the version 3.10 to
    # 3.1.
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        if _is_too_deep(yaml.parse(found[1], Loader=loader)):
            deep = f"its front matter is nested more than {MAX_LEVELS} levels deep"
            return FrontMatter({}, found.end(), (deep,))
        said = yaml.load(found[1], Loader=loader)  # noqa: S506 - creates only strings from scalars
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
        return FrontMatter({}, found.end(), (f"its front matter is not YAML: {problem}",))
    return FrontMatter(said if isinstance(said, dict) else {}, found.end())


def _is_too_deep(events: "Iterable[Event]") -> bool:
    """Check whether lists and objects are nested too deeply, by events instead of recursion."""
    from yaml import CollectionEndEvent, CollectionStartEvent

    depth = 0
    for event in events:
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if depth > MAX_LEVELS:
            return True
    return False


def front_matter_metadata(said: Mapping[object, object], tags: Iterable[str]) -> Metadata:
    """Return the metadata of a file.

    Besides the keys of every format, each property is kept under its own name: a nested one as
    ``outer.inner``, and a list of objects as a list of values for each of their keys.

    Args:
        said: the properties.
        tags: the tags in the text, which are added to those of the properties.
    """
    tags = [*_tags(said), *tags]
    known = properties(
        author=_texts(said, _AUTHOR_KEYS),
        subject=next(_texts(said, _SUBJECT_KEYS), None),
        keywords=(*_texts(said, ("keywords",)), *tags, *_texts(said, ("categories",))),
        creator=next(_texts(said, _GENERATOR_KEYS), None),
        created=_time(said, _CREATED_KEYS),
        modified=_time(said, _MODIFIED_KEYS),
        language=next(_texts(said, _LANGUAGE_KEYS), None),
    )
    own = _own_properties(said)
    if all_tags := properties(keywords=tags).get(metadata.KEYWORDS):
        own["tags"] = all_tags
    return {**own, **known}


def _own_properties(said: Mapping[object, object]) -> Metadata:
    """Return the properties under their own names; a single value is not a list."""
    found: dict[str, list[Scalar]] = {}
    is_list: set[str] = set()
    for name, value, in_list in _leaves(said):
        key = one_line(name)
        text = None if value in _EMPTY_VALUES else one_line(without_links(value))
        if key and key.lower() in _RESERVED_KEYS:
            key = f"x-{key}"
        if not key or not text or len(key) > MAX_KEY_LENGTH or key.lower() in _KEYS_OF_ALL_FORMATS:
            continue
        values = found.setdefault(key, [])
        # Lists are sorted as text, and so are dates, some of which are only a year.
        is_text = in_list or key in _CREATED_KEYS or key in _MODIFIED_KEYS
        scalar = text if is_text else _scalar(text)
        if len(values) < MAX_KEYWORDS and scalar not in values:
            values.append(scalar)
        if in_list:
            is_list.add(key)
    return {
        key: values if key in is_list or len(values) > 1 else values[0]
        for key, values in found.items()
    }


def _leaves(said: Mapping[object, object]) -> Iterator[tuple[str, str, bool]]:
    """Yield the texts in nested values in order, each with its name and whether it is in a list."""
    waiting: list[tuple[str, object, bool]] = [("", said, False)]
    for left in range(_MAX_VALUES, 0, -1):
        if not waiting:
            return
        name, value, in_list = waiting.pop()
        within: list[tuple[str, object, bool]] = []
        if isinstance(value, dict):
            within = [
                (f"{name}.{key}" if name else str(key), inner, in_list)
                for key, inner in value.items()
                if len(name) <= MAX_KEY_LENGTH
            ]
        elif isinstance(value, list):
            within = [(name, inner, True) for inner in value]
        elif isinstance(value, str):
            yield name, value, in_list
        # A stack with the first value on top, limited to the number of values that may be visited.
        waiting = [*waiting, *reversed(within)][-left:]


def _scalar(text: str) -> Scalar:
    """Return a text, or the number that it represents."""
    if not _NUMBER.fullmatch(text) or text == "-0":
        return text
    return float(text) if "." in text else int(text)


def _tags(said: Mapping[object, object]) -> Iterator[str]:
    """Yield the tags among the properties, without a leading ``#``."""
    for text in _texts(said, _TAG_KEYS):
        yield from (tag.removeprefix("#") for tag in _BEFORE_TAG.split(text))


def _texts(said: Mapping[object, object], keys: tuple[str, ...]) -> Iterator[str]:
    """Yield the texts under the keys, including items of lists but nothing nested deeper."""
    for key in keys:
        value = said.get(key)
        for item in value if isinstance(value, list) else [value]:
            # Authors are often objects with a name and other keys.
            text = item.get("name") if isinstance(item, dict) else item
            if isinstance(text, str) and text not in _EMPTY_VALUES:
                yield without_links(text)


def _time(said: Mapping[object, object], keys: tuple[str, ...]) -> str | None:
    values = (said.get(key) for key in keys)
    # A date is often a link to the daily note of that date.
    texts = (without_links(value) for value in values if isinstance(value, str))
    return next(filter(None, texts), None)
