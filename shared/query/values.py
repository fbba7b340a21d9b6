"""Values of metadata that contain some words or lie in a folder, ignoring case and accents.

The index has each value as one term, as it was written. So the words become a regular expression
for the whole value, in which each letter stands for all its forms: ``matthew`` matches values such
as ``Matthew Smith`` and ``SMITH, MATTHEW``.
"""

import re
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, groupby
from pathlib import Path
from typing import Final

from shared.analysis.analyzers import folded
from shared.model import schema
from shared.model.folders import IndexedFolders, file_term
from shared.query.tree import Expression, Node, Nothing, Pattern, any_of, escaped, unescaped

_MOST_CHARACTERS: Final = 64
"""Maximum length of words that are searched within values, in characters; expressions grow with
them."""

_LETTERS_WITH_FORMS: Final = (range(0xC0, 0x250), range(0x370, 0x530), range(0x1E00, 0x2000))
"""Latin, Greek and Cyrillic letters, including those with accents."""

_DIGRAPHS: Final = {"ae": "äÄ", "oe": "öÖ", "ue": "üÜ"}
"""Digraph spellings of umlauts."""

_MARKS: Final = "[\u0300-\u036f]*"
"""Accents that are separate characters."""

_SIGNS: Final = "".join(f"\\{sign}" for sign in map(chr, range(0x80)) if not sign.isalnum())
_BETWEEN: Final = f"[{_SIGNS}\u0080-\u00bf\u00d7\u00f7\u2000-\u206f\u3000-\u303f\uff00-\uff0f]"
"""Separators between words of a value: blanks, signs and punctuation."""

_SEPARATORS: Final = f"{_BETWEEN}+"
"""Separators in a row, such as a comma and a blank."""

_PIECE: Final = re.compile(r"([*?]+)|((?:\\.|[^*?\\])+)", re.DOTALL)
_ANY: Final = {"*": ".*", "?": "."}

_WITHOUT_BLANKS: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\U0010ffff]")
"""Letters of scripts without blanks between words, in which a word may begin and end anywhere."""


@dataclass(frozen=True, slots=True)
class ValueWords(Expression):
    """Values that contain consecutive words; the pattern has no optional operators of Lucene."""

    words: str = ""  # as typed

    def __str__(self) -> str:
        words = f'"{self.words}"' if " " in self.words else self.words
        return f"{self.field}:{words}"


def value_words(field: str, pattern: str) -> ValueWords | None:
    """Return the leaf for values that contain words, in which ``*`` and ``?`` are wildcards.

    None for a pattern without letters or that is too long: it can only be a whole value.
    """
    if len(pattern) > _MOST_CHARACTERS:
        return None
    inner = "".join(_expressions(pattern)).removeprefix(_SEPARATORS).removesuffix(_SEPARATORS)
    if not inner:
        return None
    words = unescaped(pattern)
    before = ".*" if _WITHOUT_BLANKS.match(words) else f"(.*{_BETWEEN})?"
    after = ".*" if _WITHOUT_BLANKS.match(words[-1]) else f"({_BETWEEN}.*)?"
    return ValueWords(f"{before}{inner}{after}", field, words)


def _any_form(text: str) -> str:
    """Return a regular expression for a text in any case and accents; signs are literal."""
    return "".join(
        _folded_forms(run) if _is_letter(run[0]) else _literal(run) for run in _runs(text)
    )


def _literal(text: str) -> str:
    return "".join(letter if letter.isalnum() else f"\\{letter}" for letter in text)


def _runs(text: str) -> list[str]:
    """Return the words of a text and the separators between them."""
    return ["".join(run) for _, run in groupby(text, _is_letter)]


def _is_letter(character: str) -> bool:
    """Check whether a character is a letter, a digit, or a combining mark."""
    return character.isalnum() or unicodedata.category(character).startswith("M")


def _expressions(pattern: str) -> Iterator[str]:
    """Yield expressions for the words, the wildcards and each separator of a pattern."""
    for wildcards, letters in _PIECE.findall(pattern):
        yield from (_ANY[sign] for sign in wildcards)
        for run in _runs(unescaped(letters)):
            yield _folded_forms(run) if _is_letter(run[0]) else _SEPARATORS


def _folded_forms(word: str) -> str:
    """Return an expression for all forms of a word of letters and digits."""
    plain, forms, found = folded(word), _forms(), []
    while plain:
        pair = plain[:2]
        if len(pair) > 1 and pair in forms:
            letters = "".join(_letter(letter, forms) for letter in pair)
            found.append(f"({letters}|[{forms[pair]}])")
        else:
            pair = plain[0]
            found.append(_letter(pair, forms))
        plain = plain[len(pair) :]
    return "".join(found)


def _letter(letter: str, forms: Mapping[str, str]) -> str:
    cases = {letter, *(one for one in (letter.upper(), letter.lower()) if len(one) == 1)}
    return f"[{''.join(sorted(cases | set(forms.get(letter, ''))))}]{_MARKS}"


@cache
def _forms() -> Mapping[str, str]:
    """Return the letters that are folded to each letter or pair of letters."""
    forms: dict[str, str] = defaultdict(str, _DIGRAPHS)
    for letter in map(chr, chain.from_iterable(_LETTERS_WITH_FORMS)):
        if letter.isalpha():
            plain = folded(letter)
            if len(plain) in (1, 2) and plain != letter:
                forms[plain] += letter
    return dict(forms)


FILE_FIELD: Final = schema.metadata_field(schema.FILE_PATH)

_SLASHES: Final = re.compile(r"[/\\]+")


def in_folder(folder: str, folders: IndexedFolders) -> Node:
    """Return a tree for the chunks of the files in a folder and all its subfolders.

    It is a name such as ``contracts``, in any case; the end of a path such as ``contracts/2024``;
    or an absolute path. ``*`` matches any part of a name.
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
    """Return a tree for the values of a field that have a prefix."""
    if spellings := schema.any_spelling(prefix):
        return Expression(f"{spellings}.*", field)
    literally = escaped(schema.keyword_prefix(prefix))
    return Pattern(field, f"{literally}*", scored=False)


def _absolute(folder: str, names: Sequence[str]) -> str | None:
    """Return an absolute path as files have it, with a slash at the end; None if relative."""
    if sys.platform == "win32" and Path(folder).is_absolute():
        return f"{Path(folder).as_posix().rstrip('/')}/"
    return "".join(f"/{name}" for name in names) + "/" if folder.startswith("/") else None


def _through_roots(names: Sequence[str], folders: IndexedFolders) -> Iterator[str]:
    """Yield expressions for files that are in a folder because an indexed folder is in it."""
    for folder in folders:
        beginning = _literal(file_term(folder.prefix, ""))
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
    forms = (_any_form(part), schema.any_spelling(part))
    return f"({'|'.join(filter(None, forms))})" if forms[1] else forms[0]
