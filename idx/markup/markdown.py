"""Markdown: front matter, Obsidian's syntax and headings, read line by line."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from idx.extraction.types import Extracted, Source
from idx.text.cleaning import MAX_HEADINGS, headings
from idx.text.decoding import decode
from idx.text.properties import MAX_KEYWORDS, one_line, properties
from shared.analysis.languages import COMBINING
from shared.model import metadata, schema
from shared.model.document import MAX_KEY_LENGTH, Metadata, Scalar

if TYPE_CHECKING:
    from yaml import Event

_LINE: Final = re.compile(r"[^\r\n]+")

# Fences also occur within quotes and lists.
_FENCE: Final = re.compile(r"([ \t>]*)(?:[-*+] +)?(`{3,}(?=[^`]*$)|~{3,})")

_TICKS: Final = re.compile("`+")


def lines_outside_code(text: str, start: int) -> Iterator[re.Match[str]]:
    """Yield the non-blank lines of a text that are not in fenced code."""
    fence = ""
    is_quoted = False
    for match in _LINE.finditer(text, start):
        line = match[0]
        if fence and is_quoted and not line.lstrip().startswith(">"):
            fence = ""
        if fence:
            # The closing fence has at least as many of the same characters, and nothing else.
            end = line.strip(" \t>") if is_quoted else line.strip()
            if end.startswith(fence) and not end.strip(fence[0]):
                fence = ""
        elif found := _FENCE.match(line):
            is_quoted, fence = ">" in found[1], found[2]
        else:
            yield match


def pieces_outside_code(line: str) -> Iterator[tuple[str, bool]]:
    """Yield the pieces of a line in order, each with whether it is code between backticks."""
    ticks = [match.span() for match in _TICKS.finditer(line)]
    # Code ends at the next run of as many backticks; without such a run, the backticks are text.
    next_of_length: dict[int, int] = {}
    closing: list[int | None] = []
    for begin, end in reversed(ticks):
        closing.append(next_of_length.get(end - begin))
        next_of_length[end - begin] = end
    closing.reverse()
    done = 0
    for (begin, _), close in zip(ticks, closing, strict=True):
        if close is not None and begin >= done:
            yield line[done:begin], False
            yield line[begin:close], True
            done = close
    yield line[done:], False


_SYNTAX: Final = re.compile(r"\[\[|\[!|\^")  # syntax that is displayed in another form

# Other Markdown has links with text in brackets, [[1]](address), and shell code has [[ -f name ]].
_LINK: Final = re.compile(r"(!?)\[\[(?![\s^])([^\[\]]+)\]\](?![(\[])")

_PICTURE_SIZE: Final = re.compile(r"\s*[0-9]+(?:x[0-9]+)?\s*")
"""Size that may replace the text of an embedded picture."""

_CALLOUT: Final = re.compile(r"([ \t]*(?:>[ \t]*)+)\[!([^\[\]|]+)(?:\|[^\[\]]*)?\][+-]?[ \t]*(.*)")

# A letter is required, because 10 ^6 at the end of a line is a number.
_BLOCK_ID: Final = re.compile(r"(?:^|[ \t]+)\^(?=[0-9-]*[A-Za-z])[A-Za-z0-9-]+[ \t]*$")

_TAG: Final = re.compile(rf"(?<!\S)#([\w/-]*[^\W\d][\w/{COMBINING}-]*)")


def as_shown(text: str, start: int) -> str:
    """Return a text as Obsidian displays it, with code unchanged."""
    parts = []
    end = 0
    for line in lines_outside_code(text, start):
        if _SYNTAX.search(line[0]) and (shown := _line_as_shown(line[0])) != line[0]:
            parts += [text[end : line.start()], shown]
            end = line.end()
    return "".join([*parts, text[end:]])


def tags_in(text: str, start: int) -> Iterator[str]:
    """Yield the tags in a text without ``#``, such as ``project/alpha`` for ``#project/alpha``."""
    for line in lines_outside_code(text, start):
        if "#" in line[0]:
            for piece, is_code in pieces_outside_code(line[0]):
                if not is_code:
                    yield from (tag.strip("/") for tag in _TAG.findall(piece))


def without_links(text: str) -> str:
    return _LINK.sub(_link_text, text) if "[[" in text else text


def _line_as_shown(line: str) -> str:
    if callout := _CALLOUT.fullmatch(line):
        quote, kind, title = callout.groups()
        line = f"{quote}{title or kind.strip().capitalize()}"
    pieces = pieces_outside_code(line)
    line = "".join(piece if is_code else without_links(piece) for piece, is_code in pieces)
    return _BLOCK_ID.sub("", line)


def _link_text(link: re.Match[str]) -> str:
    """Return the display text of a link: its own text, or the names of the note and heading."""
    is_embedded, inner = bool(link[1]), link[2]
    target, _, text = inner.partition("|")
    if text.strip() and not (is_embedded and _PICTURE_SIZE.fullmatch(text)):
        return text.strip()
    # In a table, the bar is escaped by a backslash.
    note, *headings = target.removesuffix("\\").split("#")
    names = [note.strip().removesuffix(".md"), *(heading.strip() for heading in headings)]
    return " > ".join(name for name in names if name and not name.startswith("^")) or link[0]


MAX_FRONT_MATTER: Final = 10_000  # characters of a front matter

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

_EMPTY_VALUES: Final = frozenset({"", "~", "null"})  # scalars that mean a missing value

_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{0,5}[1-9])?")
"""Pattern of numbers in their canonical form: neither 010 nor the version 3.10."""

_BEFORE_TAG: Final = re.compile(r"[\s,]+(?=#)")

_CREATED_KEYS: Final = ("date", "created", "published", "date_created")
_MODIFIED_KEYS: Final = ("modified", "updated", "lastmod", "last_modified", "date_modified")

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
    """Front matter of a file; `end` is the offset of the text after it."""

    said: Mapping[object, object] = {}
    end: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def title(self) -> str | None:
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
    """Return the metadata of a file, with the tags in its text.

    Besides the keys of every format, each property is kept under its own name: a nested one as
    ``outer.inner``, and a list of objects as a list of values for each of their keys.
    """
    tags = [*_tags(said), *tags]
    known = properties(
        author=_texts(said, ("author", "authors", "creator")),
        subject=next(_texts(said, ("subject", "description", "summary", "abstract")), None),
        keywords=(*_texts(said, ("keywords",)), *tags, *_texts(said, ("categories",))),
        creator=next(_texts(said, ("generator",)), None),
        created=_time(said, _CREATED_KEYS),
        modified=_time(said, _MODIFIED_KEYS),
        language=next(_texts(said, ("lang", "language")), None),
    )
    own = _own_properties(said)
    if all_tags := properties(keywords=tags).get(metadata.KEYWORDS):
        own["tags"] = all_tags
    return {**own, **known}


def _own_properties(said: Mapping[object, object]) -> Metadata:
    """Return the properties under their own names; a single value is not a list."""
    found: dict[str, list[Scalar]] = {}
    is_list: set[str] = set()
    for name, value, in_list in islice(_values(said), _MAX_VALUES):
        if not isinstance(value, str) or value in _EMPTY_VALUES:
            continue
        key, text = one_line(name), one_line(without_links(value))
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


def _values(
    value: object, name: str = "", *, in_list: bool = False
) -> Iterator[tuple[str, object, bool]]:
    """Yield a value and those within it, each with its name and whether it is in a list."""
    yield name, value, in_list
    if isinstance(value, dict) and len(name) <= MAX_KEY_LENGTH:
        for key, inner in value.items():
            yield from _values(inner, f"{name}.{key}" if name else str(key), in_list=in_list)
    elif isinstance(value, list):
        for inner in value:
            yield from _values(inner, name, in_list=True)


def _scalar(text: str) -> Scalar:
    if not _NUMBER.fullmatch(text) or text == "-0":
        return text
    return float(text) if "." in text else int(text)


def _tags(said: Mapping[object, object]) -> Iterator[str]:
    """Yield the tags among the properties, without a leading ``#``."""
    for text in _texts(said, ("tags", "tag")):
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


_MAX_HEADING: Final = 2_000
"""Maximum length of a heading with its marks, in characters; the rest is not in its section."""

# A closing sequence of # must be preceded by a space.
_HEADING: Final = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?\S)(?:[ \t]+#+)?[ \t]*")
_UNDERLINE: Final = re.compile(r" {0,3}(=+|-{2,})[ \t]*")
_NO_PARAGRAPH: Final = re.compile(r"\s{4}|\s*(?:[-*+>|#]|\d+[.)]\s|\Z)")
_MARKS: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|[*`]|(?<!\w)_|_(?!\w)|</?\w[^>]*>")
"""Links, emphasis, code and tags in a heading."""


def extract_markdown(source: Source) -> Extracted:
    """Extract the text line by line as in the file, and title and metadata from the front matter.

    Links and other syntax of Obsidian are replaced by their display form. Without a title in the
    front matter, the first heading of level one is the title. Front matter that is not valid YAML
    results in no metadata, and a warning.
    """
    written = decode(source.data, source.file, source.options.encoding)
    matter = front_matter(written)
    text = as_shown(written, matter.end)
    found = list(islice(markdown_headings(text, matter.end), MAX_HEADINGS))
    highest = (heading for level, heading, _ in found if level == 1)
    return Extracted(
        text=text,
        is_own_text=True,
        title=matter.title or next(highest, None),
        metadata=front_matter_metadata(matter.said, tags_in(text, matter.end)),
        headings=headings(found),
        warnings=matter.warnings,
    )


def markdown_headings(text: str, start: int = 0) -> Iterator[tuple[int, str | None, int]]:
    """Yield the level, the text and the offset of each heading outside fenced code."""
    # The end of the line above if it is text, and that line if it is the first of a paragraph.
    end: int | None = None
    first: re.Match[str] | None = None
    for line in lines_outside_code(text, start):
        is_below = end is not None and text.count("\n", end, line.start()) == 1
        underline = _UNDERLINE.fullmatch(line[0]) if first and is_below else None
        if found := _HEADING.fullmatch(line[0]):
            yield len(found[1]), _plain(found[2]), line.start()
        elif first and underline:
            yield 1 if "=" in underline[1] else 2, _plain(first[0]), first.start()
        is_text = not (found or underline or _NO_PARAGRAPH.match(line[0]))
        first = line if is_text and not is_below else None
        end = line.end() if is_text else None


def _plain(heading: str) -> str | None:
    return one_line(_MARKS.sub(r"\1", heading[:_MAX_HEADING]))
