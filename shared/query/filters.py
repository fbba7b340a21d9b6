"""Conversion of filters to trees, whose scores do not count, and of words within values.

The index has each value of metadata as one term, as it was written. So words become a regular
expression for the whole value, in which each letter stands for all its forms: ``matthew`` matches
values such as ``Matthew Smith`` and ``SMITH, MATTHEW``.
"""

import json
import math
import re
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, groupby
from pathlib import Path
from types import MappingProxyType
from typing import Final, get_args

from shared.analysis.analyzers import folded
from shared.analysis.languages import WITHOUT_BLANKS
from shared.errors import FilterError
from shared.model import schema
from shared.model.document import Scalar
from shared.model.filters import Collection, Collections, Filter, FilterOperator, Limits, checked
from shared.model.folders import FILE_FIELD, IndexedFolders, file_term
from shared.model.schema import COLLECTION, FOLDER
from shared.query import tree
from shared.query.syntax import is_number
from shared.query.terms import IndexTerms
from shared.settings.defaults import MAX_COUNT
from shared.storage.field_names import metadata_field_of
from shared.storage.mapping import metadata_text

_UTC: Final = re.compile(r"(?<=\d)(?:\+00:00|z)$")
_PART_OF_TIME: Final = re.compile(r"\d{4}(-\d\d(-\d\d(T\d\d(:\d\d(:\d\d)?)?)?)?)?")
_LAST: Final = "\U0010ffff"
_TEXT_FIELDS: Final = (schema.TITLE, schema.CONTENT)
_FIELDS_OF_CHUNKS: Final = (*schema.KEYWORD_FIELDS, schema.CHUNK_INDEX)
_OPERATORS: Final = get_args(FilterOperator)
_COMPARING: Final = ("eq", "ne", "in", "not_in")

_MOST_CHARACTERS: Final = 64  # of words that are searched within values; expressions grow with them

_LETTERS_WITH_FORMS: Final = (range(0xC0, 0x250), range(0x370, 0x530), range(0x1E00, 0x2000))
"""Latin, Greek and Cyrillic letters, including those with accents."""

_DIGRAPHS: Final = {"ae": "äÄ", "oe": "öÖ", "ue": "üÜ"}
_MARKS: Final = "[\u0300-\u036f]*"  # accents that are separate characters

_SIGNS: Final = "".join(f"\\{sign}" for sign in map(chr, range(0x80)) if not sign.isalnum())
_BETWEEN: Final = f"[{_SIGNS}\u0080-\u00bf\u00d7\u00f7\u2000-\u206f\u3000-\u303f\uff00-\uff0f]"
"""Separators between words of a value: blanks, signs and punctuation."""

_SEPARATORS: Final = f"{_BETWEEN}+"  # in a row, such as a comma and a blank

_ANY: Final = {"*": ".*", "?": "."}

_WITHOUT_BLANKS: Final = re.compile(f"[{WITHOUT_BLANKS}\u2e80-\U0010ffff]")
"""Letters of scripts without blanks between words, in which a word may begin and end anywhere."""

_SLASHES: Final = re.compile(r"[/\\]+")


def conditions(
    filters: Sequence[Filter],
    terms: IndexTerms,
    folders: IndexedFolders,
    collections: Collections = MappingProxyType({}),
) -> list[tree.Clause]:
    """Return the clauses that a chunk must match to pass every filter."""
    return [
        tree.Clause(
            in_collections(
                checked(_names(condition, "names of collections"), collections), terms, folders
            )
            if condition.field == COLLECTION
            else _condition(condition, terms, folders),
            "must_not" if condition.operator in {"ne", "not_in"} else "must",
        )
        for condition in filters
    ]


def in_collections(
    collections: Iterable[Collection], terms: IndexTerms, folders: IndexedFolders
) -> tree.Node:
    """Return a tree for the chunks of any of some collections.

    A collection with a filter on a metadata key that no document has is empty.
    """
    return tree.any_of(*(_in_collection(collection, terms, folders) for collection in collections))


def within(limits: Limits, terms: IndexTerms, folders: IndexedFolders) -> tree.Node:
    return tree.all_of(*(in_collections(of, terms, folders) for of in limits.each))


def _in_collection(collection: Collection, terms: IndexTerms, folders: IndexedFolders) -> tree.Node:
    for condition in collection.filters:
        is_of_chunks = condition.field in _FIELDS_OF_CHUNKS or _is_on_folders(condition, terms)
        if not is_of_chunks and schema.metadata_field(condition.field) not in terms.fields:
            return tree.Nothing()
    return tree.Clauses(tuple(conditions(collection.filters, terms, folders)))


def _names(condition: Filter, kind: str) -> list[str]:
    _check(condition)
    if condition.operator not in _COMPARING:
        raise FilterError(
            f"the filter on {condition.field!r} compares with {kind}; it takes no "
            f"{condition.operator!r}"
        )
    return list(map(str, _values(condition)))


def _condition(condition: Filter, terms: IndexTerms, folders: IndexedFolders) -> tree.Node:
    if _is_on_folders(condition, terms):
        names = _names(condition, "names or paths of folders")
        return tree.any_of(*(in_folder(name, folders) for name in names))
    field = _resolve(condition.field, terms)
    _check(condition)
    if condition.operator == "exists":
        # Every chunk has an id, but the field has no doc values to check.
        return tree.Exists(field) if field != schema.ID else tree.Everything()
    if field == FILE_FIELD:
        return _files(condition, folders)
    if condition.operator == "range":
        return _range(condition, field, terms)
    return _values_of(condition, field)


def _values_of(condition: Filter, field: str) -> tree.Node:
    values = _values(condition)
    if condition.operator == "prefix":
        if not isinstance(values[0], str) or field == schema.CHUNK_INDEX:
            raise FilterError(
                f"the filter on {condition.field!r} needs a text field for its prefix"
            )
        return beginning_with(field, values[0])
    if field == schema.CHUNK_INDEX:
        numbers = (_number(condition, value) for value in values)
        whole = (int(number) for number in numbers if number.is_integer())
        return tree.Values(
            field, tuple(str(number) for number in whole if abs(number) <= MAX_COUNT)
        )
    return _any_of_texts(field, [metadata_text(value) for value in values])


def _resolve(name: str, terms: IndexTerms) -> str:
    if name in _FIELDS_OF_CHUNKS:
        return name
    if name in _TEXT_FIELDS:
        raise FilterError(f"{name!r} is searched, not filtered; put {name}:WORD into the query")
    return metadata_field_of(name, terms.fields, _FIELDS_OF_CHUNKS)


def _is_on_folders(condition: Filter, terms: IndexTerms) -> bool:
    return condition.field == FOLDER and FILE_FIELD in terms.fields


def _check(condition: Filter) -> None:
    if condition.operator not in _OPERATORS:
        raise FilterError(
            f"there is no filter operator {condition.operator!r}; there are "
            + ", ".join(_OPERATORS)
        )
    if isinstance(condition.value, list) and None in condition.value:
        raise FilterError(f"the filter on {condition.field!r} takes a list of values, not of null")
    unused = "value" if condition.operator in ("range", "exists") else "minimum or maximum"
    if any(getattr(condition, name) is not None for name in unused.split(" or ")):
        raise FilterError(
            f"the filter on {condition.field!r} has no use for {unused} with {condition.operator!r}"
        )


def _any_of_texts(field: str, texts: Sequence[str]) -> tree.Node:
    """Return a tree for the values of a field that are one of some texts, in any spelling."""
    spellings = [found for text in texts if (found := schema.any_spelling(text))]
    expressions = (tree.Expression(spelling, field) for spelling in spellings)
    return tree.any_of(tree.Values(field, tuple(map(schema.keyword, texts))), *expressions)


def _files(condition: Filter, folders: IndexedFolders) -> tree.Node:
    """Return a tree for absolute paths, of which the index has the part within a folder."""
    if condition.operator == "range":
        raise FilterError(
            f"the filter on {condition.field!r} takes no range; use prefix for a folder"
        )
    values = [str(value) for value in _values(condition)]
    if condition.operator == "prefix":
        beginnings = (beginning for value in values for beginning in folders.term_prefixes(value))
        return tree.any_of(*(beginning_with(FILE_FIELD, beginning) for beginning in beginnings))
    return _any_of_texts(FILE_FIELD, [term for value in values for term in folders.terms(value)])


def _range(condition: Filter, field: str, terms: IndexTerms) -> tree.Node:
    """Return a tree for numbers, or for texts, whose bounds may look like numbers: 2024."""
    low, high = condition.minimum, condition.maximum
    given = [bound for bound in (low, high) if bound is not None]
    if not given:
        raise FilterError(f"the range on {condition.field!r} needs a minimum or a maximum")
    numbers, is_of_chunks = schema.number_field(condition.field), field == schema.CHUNK_INDEX
    has_numbers = numbers in terms.fields and field not in schema.KEYWORD_FIELDS
    are_texts = all(isinstance(bound, str) for bound in given)
    if not is_of_chunks and (
        not has_numbers or (are_texts and not all(is_number(str(bound)) for bound in given))
    ):
        end = _utc(high)
        # A bound includes all of a year, month, day or minute.
        is_part = end is not None and _PART_OF_TIME.fullmatch(end)
        return tree.Range(_utc(low), f"{end}{_LAST}" if is_part else end, field=field)
    least = -math.inf if low is None else _number(condition, low)
    most = math.inf if high is None else _number(condition, high)
    if not is_of_chunks:
        first_bound, last_bound = (
            None if math.isinf(bound) else repr(bound) for bound in (least, most)
        )
        return tree.Range(first_bound, last_bound, field=numbers)
    first, last = math.ceil(max(least, 0)), math.floor(min(most, MAX_COUNT))
    return tree.Between(field, first, last) if first <= last else tree.Nothing()


def _utc(bound: Scalar | None) -> str | None:
    """Return a bound with UTC spelled as in the index."""
    return bound if bound is None else _UTC.sub("Z", metadata_text(bound))


def _values(condition: Filter) -> list[Scalar]:
    value = condition.value
    listed = condition.operator in ("in", "not_in")
    if value is None or isinstance(value, list) != listed or value == []:
        raise FilterError(
            f"the filter on {condition.field!r} needs "
            + ("a list of values" if listed else "one value")
            + f" for {condition.operator!r}, not {json.dumps(value)}"
        )
    return value if isinstance(value, list) else [value]


def _number(condition: Filter, value: Scalar) -> float:
    try:
        number = float(value)
    except (ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise FilterError(
            f"the filter on {condition.field!r} needs a number, not {str(value)[:80]!r}"
        )
    return number


def value_words(field: str, pattern: str) -> tree.ValueWords | None:
    """Return the leaf for values that contain words, in which ``*`` and ``?`` are wildcards.

    None for a pattern without letters or that is too long: it can only be a whole value.
    """
    if len(pattern) > _MOST_CHARACTERS:
        return None
    inner = "".join(_expressions(pattern)).removeprefix(_SEPARATORS).removesuffix(_SEPARATORS)
    if not inner:
        return None
    words = tree.unescaped(pattern)
    before = ".*" if _WITHOUT_BLANKS.match(words) else f"(.*{_BETWEEN})?"
    after = ".*" if _WITHOUT_BLANKS.match(words[-1]) else f"({_BETWEEN}.*)?"
    return tree.ValueWords(f"{before}{inner}{after}", field, words)


def _any_form(text: str) -> str:
    """Return a regular expression for a text in any case and accents; signs are literal."""
    return "".join(
        _folded_forms(run) if _is_letter(run[0]) else schema.literal(run) for run in _runs(text)
    )


def _runs(text: str) -> list[str]:
    return ["".join(run) for _, run in groupby(text, _is_letter)]


def _is_letter(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character).startswith("M")


def _expressions(pattern: str) -> Iterator[str]:
    for wildcards, letters in tree.pieces(pattern):
        yield from (_ANY[sign] for sign in wildcards)
        for run in _runs(tree.unescaped(letters)):
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


def in_folder(folder: str, folders: IndexedFolders) -> tree.Node:
    """Return a tree for the chunks of the files in a folder and all its subfolders.

    It is a name such as ``contracts``, in any case; the end of a path such as ``contracts/2024``;
    or an absolute path. ``*`` matches any part of a name.
    """
    names = [name for name in _SLASHES.split(folder) if name]
    if absolute := _absolute(folder, names):
        beginnings = folders.term_prefixes(absolute)
        return tree.any_of(*(beginning_with(FILE_FIELD, beginning) for beginning in beginnings))
    if not names:
        return tree.Nothing()
    within = f"([^\0]*\0)?(.*/)?{_path(names)}/.*"
    expressions = (within, *_through_roots(names, folders))
    return tree.any_of(
        *(tree.ValueWords(expression, FILE_FIELD, folder) for expression in expressions)
    )


def beginning_with(field: str, prefix: str) -> tree.Node:
    """Return a tree for the values of a field that have a prefix."""
    if spellings := schema.any_spelling(prefix):
        return tree.Expression(f"{spellings}.*", field)
    literally = tree.escaped(schema.keyword_prefix(prefix))
    return tree.Pattern(field, f"{literally}*", scored=False)


def _absolute(folder: str, names: Sequence[str]) -> str | None:
    """Return an absolute path as files have it, with a slash at the end; None if relative."""
    if sys.platform == "win32" and Path(folder).is_absolute():
        return f"{Path(folder).as_posix().rstrip('/')}/"
    return "".join(f"/{name}" for name in names) + "/" if folder.startswith("/") else None


def _through_roots(names: Sequence[str], folders: IndexedFolders) -> Iterator[str]:
    """Yield expressions for files that are in a folder because an indexed folder is in it."""
    for folder in folders:
        beginning = schema.literal(file_term(folder.prefix, ""))
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
