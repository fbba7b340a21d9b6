"""Filter on folders: documents whose file is in a folder, given by name or path."""

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from shared.model import schema
from shared.model.folders import IndexedFolders, file_term
from shared.query.metadata_values import ValueWords, any_form, literal
from shared.query.tree import Expression, Node, Nothing, Pattern, any_of

FILE_FIELD: Final = schema.metadata_field(schema.FILE_PATH)

_SLASHES: Final = re.compile(r"[/\\]+")
_WILDCARD: Final = re.compile(r"[\\*?]")


def in_folder(folder: str, folders: IndexedFolders) -> Node:
    """Return a tree for the chunks of the files in a folder and all its subfolders.

    Args:
        folder: a name such as ``contracts``, in any case; the end of a path such as
            ``contracts/2024``; or an absolute path. ``*`` matches any part of a name.
        folders: the folders of the index, whose paths are not part of the terms of files.
    """
    names = [name for name in _SLASHES.split(folder) if name]
    if absolute := _absolute(folder, names):
        beginnings = folders.term_prefixes(absolute)
        return any_of(*(beginning_with(FILE_FIELD, beginning) for beginning in beginnings))
    if not names:
        return Nothing()
    within = f"([^\0]*\0)?(.*/)?{_path(names)}/.*"
    expressions = (within, *_through_roots(names, folders))
    return any_of(*(ValueWords(expression, FILE_FIELD, folder) for expression in expressions))


def beginning_with(field: str, prefix: str) -> Node:
    """Return a tree for the values of a field that have a prefix.

    Raises:
        InvalidTextError: the prefix is not valid Unicode.
    """
    if spellings := schema.any_spelling(prefix):
        return Expression(f"{spellings}.*", field)
    literally = _WILDCARD.sub(r"\\\g<0>", schema.keyword_prefix(prefix))
    return Pattern(field, f"{literally}*", scored=False)


def _absolute(folder: str, names: Sequence[str]) -> str | None:
    """Return an absolute path as files have it, with a slash at the end; None if relative."""
    if sys.platform == "win32" and Path(folder).is_absolute():
        return f"{Path(folder).as_posix().rstrip('/')}/"
    return "".join(f"/{name}" for name in names) + "/" if folder.startswith("/") else None


def _through_roots(names: Sequence[str], folders: IndexedFolders) -> Iterator[str]:
    """Yield expressions for files that are in a folder because an indexed folder is in it."""
    for folder in folders:
        beginning = literal(file_term(folder.prefix, ""))
        above = folder.path.parts
        if any(_are(names, above[begin:][: len(names)]) for begin in range(len(above))):
            yield f"{beginning}.*"
        for count in range(1, len(names)):
            if _are(names[:count], above[-count:]):
                yield f"{beginning}{_path(names[count:])}/.*"


def _are(names: Sequence[str], folders: Sequence[str]) -> bool:
    return len(names) == len(folders) and re.fullmatch(_path(names), "/".join(folders)) is not None


def _path(names: Sequence[str]) -> str:
    """Return an expression, for Lucene and Python, for nested folders."""
    return "/".join("[^/]*".join(map(_any_name, name.split("*"))) for name in names)


def _any_name(part: str) -> str:
    # The first one knows the accents of Latin, Greek and Cyrillic letters.
    forms = (any_form(part), schema.any_spelling(part))
    return f"({'|'.join(filter(None, forms))})" if forms[1] else any_form(part)
