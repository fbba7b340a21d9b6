"""Markdown, with the properties that may stand before the text, in YAML."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from idx.extraction.encoding import decode
from idx.extraction.extracted import Extracted
from idx.extraction.properties import one_line, properties
from idx.extraction.source import Source
from shared.document import Metadata

_FRONT_MATTER: Final = re.compile(
    r"---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*\r?$", re.DOTALL | re.MULTILINE
)

MAX_FRONT_MATTER: Final = 10_000
"""Characters. The parser of YAML crashes on brackets that are nested deeper than its stack."""

_LINE: Final = re.compile(r"[^\r\n]+")
_FENCE: Final = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
# A closing row of # stands behind a blank.
_HEADING: Final = re.compile(r" {0,3}#[ \t]+(.*?\S)(?:[ \t]+#+)?[ \t]*")

_NOTHING: Final = frozenset({"", "~", "null"})
"""What stands for no value."""

_AUTHOR: Final = ("author", "authors", "creator")
_SUBJECT: Final = ("subject", "description", "summary", "abstract")
_KEYWORDS: Final = ("keywords", "tags", "categories")
_CREATED: Final = ("date", "created", "published", "date_created")
_MODIFIED: Final = ("modified", "updated", "lastmod", "last_modified", "date_modified")
_LANGUAGE: Final = ("lang", "language")
_GENERATOR: Final = ("generator",)


def extract_markdown(source: Source) -> Extracted:
    """The text exactly as it stands in the file; title and metadata from its front matter.

    Without a title there, the first heading of level one is the title. A front matter that is
    not YAML gives no metadata, and a warning.

    Raises:
        SourceFileError: the bytes are not text.
    """
    text = decode(source.data, source.file, source.options.encoding)
    said, body, warnings = _front_matter(text)
    return Extracted(
        text=text,
        media_type=source.media_type,
        is_own_text=True,
        title=one_line(next(_texts(said, ("title",)), None)) or _first_heading(text, body),
        metadata=_metadata(said),
        warnings=warnings,
    )


def _front_matter(text: str) -> tuple[Mapping[object, object], int, tuple[str, ...]]:
    """What stands in the front matter, where the text after it begins, and what is wrong."""
    if not text.startswith("---"):
        return {}, 0, ()
    found = _FRONT_MATTER.match(text, 0, MAX_FRONT_MATTER)
    if not found:
        return {}, 0, ()
    import yaml

    # Made by programs; the parser written in C is ten times as fast. All scalars stay texts: YAML
    # 1.1 makes a truth value of the language no, and 3.1 of the version 3.10.
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        said = yaml.load(found[1], Loader=loader)  # noqa: S506 - makes nothing but texts of scalars
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
        return {}, found.end(), (f"its front matter is not YAML: {problem}",)
    return (said if isinstance(said, dict) else {}), found.end(), ()


def _metadata(said: Mapping[object, object]) -> Metadata:
    if not said:
        return {}
    return properties(
        author=_texts(said, _AUTHOR),
        subject=next(_texts(said, _SUBJECT), None),
        keywords=_texts(said, _KEYWORDS),
        creator=next(_texts(said, _GENERATOR), None),
        created=_time(said, _CREATED),
        modified=_time(said, _MODIFIED),
        language=next(_texts(said, _LANGUAGE), None),
    )


def _texts(said: Mapping[object, object], keys: tuple[str, ...]) -> Iterator[str]:
    """The texts under the keys, of lists each; nothing that is nested deeper."""
    for key in keys:
        value = said.get(key)
        for item in value if isinstance(value, list) else [value]:
            # Authors often have a name and more.
            text = item.get("name") if isinstance(item, dict) else item
            if isinstance(text, str) and text not in _NOTHING:
                yield text


def _time(said: Mapping[object, object], keys: tuple[str, ...]) -> str | None:
    values = (said.get(key) for key in keys)
    return next((value for value in values if isinstance(value, str) and value), None)


def _first_heading(text: str, start: int) -> str | None:
    """The first heading of level one outside fenced code."""
    fence = ""
    for match in _LINE.finditer(text, start):
        line = match[0]
        if fence:
            # It ends with at least as many of the same sign, and nothing else.
            end = line.strip()
            if end.startswith(fence) and not end.strip(fence[0]):
                fence = ""
        elif found := _FENCE.match(line):
            fence = found[1]
        elif found := _HEADING.fullmatch(line):
            return one_line(found[1])
    return None
