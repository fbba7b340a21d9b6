"""JSON with comments: any text is read or refused, and a change changes what it should."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from hypothesis import strategies as st

from idx.clients import config_files as jsonc
from idx.extraction.formats import extract_from
from idx.extraction.types import Extracted, ExtractionOptions
from idx.office import rtf as words
from idx.text.cleaning import normalize
from tests.fuzz.running import MARKS, check_document, fuzz
from tests.idx.clients.files import only_added

pytestmark = MARKS

TOKENS: Final = (
    *("{", "}", "[", "]", ",", ":", '"', '"a"', "1", "-0", "1e999", "NaN", "true", "null", " "),
    *("//", "/*", "*/", "/", "*", "\\", "\n", "\r\n", "\t", "\u2028", "\ufeff", "\x0c", "\xa0"),
    *('"//"', '"/*"', '"\\""', '"\\ud800"', '"a\\', "'a'", "/**/", "/*/", "// x\n", '/*"*/'),
)

texts = st.lists(st.sampled_from(TOKENS) | st.text(max_size=3), max_size=30).map("".join)

long_texts = st.builds(
    lambda token, times, rest: token * times + rest,
    st.sampled_from([*TOKENS, "[ ", ", ", '{"a": ', "/*a", '"\\\\']),
    st.sampled_from([300, 20_000]),
    texts,
)

keys = st.sampled_from(["servers", "a", "b", "", "//", "/* */", '"', "\\", "é", "\U0001f600"]) | (
    st.text(max_size=4)
)

values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | keys,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)

objects = st.dictionaries(keys, values, max_size=4)

blanks = st.sampled_from(["", " ", "\n", "\t", "\r\n  "])

comments = st.one_of(
    st.text(max_size=8)
    .filter(lambda text: not re.search(r"[\r\n]", text))
    .map(lambda text: f"//{text}\n"),
    st.text(max_size=8).filter(lambda text: "*/" not in f"/*{text}*"[2:]).map("/*{}*/".format),
    st.sampled_from(['// "a": 1,\n', "/* { */", "/*,*/", "// }\r\n", "/**/", '/*"*/']),
)

gaps = st.lists(blanks | blanks | comments, max_size=2).map("".join)


@st.composite
def commented(draw: st.DrawFn, value: Any) -> str:
    """A value as people write it: with blanks, comments and trailing commas."""
    gap = draw(gaps)
    if isinstance(value, dict):
        parts = [
            f"{draw(gaps)}{json.dumps(key)}{draw(gaps)}:{draw(commented(inner))}"
            for key, inner in value.items()
        ]
    elif isinstance(value, list):
        parts = [draw(commented(inner)) for inner in value]
    else:
        return f"{gap}{json.dumps(value, ensure_ascii=draw(st.booleans()))}{draw(gaps)}"
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    has_comma = draw(st.booleans())
    comma = f",{draw(gaps)}" if parts and has_comma else ""
    return f"{gap}{opening}{','.join(parts)}{comma}{draw(gaps)}{closing}{draw(gaps)}"


@st.composite
def written(
    draw: st.DrawFn, values: st.SearchStrategy[dict[str, Any]] = objects
) -> tuple[str, dict[str, Any]]:
    """An object as people write it, and what it says."""
    value = draw(values)
    return draw(commented(value)), value


def comments_in(text: str) -> Iterator[str]:
    """The comments of a text, by a reader that is as simple as it is slow."""
    place = 0
    while place < len(text):
        if text[place] == '"':
            place += 1
            while text[place] != '"':
                place += 1 + (text[place] == "\\")
            place += 1
        elif text.startswith("//", place):
            end = re.compile(r"[\r\n]|$").search(text, place)
            assert end
            yield text[place : end.start()]
            place = end.start()
        elif text.startswith("/*", place):
            end_of_comment = text.index("*/", place + 2) + 2
            yield text[place:end_of_comment]
            place = end_of_comment
        else:
            place += 1


def test_any_text_is_an_object_or_refused() -> None:
    def is_read_or_refused(text: str) -> None:
        with suppress(ValueError):
            assert isinstance(jsonc.parse(text), dict)

    fuzz(is_read_or_refused, text=texts | long_texts)


def test_what_json_reads_is_read_in_the_same_way() -> None:
    def is_the_same(value: dict[str, Any], indent: int | None) -> None:
        for ascii_only in (True, False):
            text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
            assert jsonc.parse(text) == json.loads(text)

    fuzz(is_the_same, value=objects, indent=st.none() | st.integers(0, 4))


def test_comments_and_trailing_commas_mean_nothing() -> None:
    def is_what_was_written(written: tuple[str, dict[str, Any]]) -> None:
        text, value = written
        assert jsonc.parse(text) == value

    fuzz(is_what_was_written, written=written())


def test_a_change_leaves_all_comments_and_every_other_value() -> None:
    def is_changed(written: tuple[str, dict[str, Any]], path: list[str], new: Any) -> None:
        text, value = written
        expected: Any = json.loads(json.dumps(value))
        inner = expected
        for key in path[:-1]:
            inner = inner.setdefault(key, {})
            if not isinstance(inner, dict):
                # Callers refuse a path through something else.
                return
        old = inner.get(path[-1])
        inner[path[-1]] = new
        changed = jsonc.with_value(text, path, new)
        assert jsonc.parse(changed) == expected
        if not isinstance(old, dict | list):
            assert [*comments_in(changed)] == [*comments_in(text)]

    fuzz(
        is_changed,
        written=written(),
        path=st.lists(keys, min_size=1, max_size=3),
        new=values,
    )


def test_a_member_joins_an_object_of_any_layout() -> None:
    def joins(written: tuple[str, dict[str, Any]]) -> None:
        text, value = written
        entry = {"command": "/a", "args": ["//b"]}
        changed = jsonc.with_value(text, ["servers", "added"], entry)
        assert jsonc.parse(changed) == value | {"servers": value["servers"] | {"added": entry}}
        # An object without members may lose the blanks in it.
        assert only_added(text.replace("\t", ""), changed.replace("\t", ""))
        again = jsonc.with_value(changed, ["servers", "added", "args"], [])
        assert jsonc.parse(again)["servers"]["added"] == entry | {"args": []}
        nested = jsonc.with_value(text, ["outer", "inner", "last"], 1)
        assert jsonc.parse(nested) == value | {"outer": {"inner": {"last": 1}}}

    with_servers = st.builds(lambda value, of: value | {"servers": of}, objects, objects)
    fuzz(joins, written=written(with_servers))


WORDS: Final = sorted(
    {
        *(*words.TEXTS, *words.HIDDEN, *words.SHOWN, *words.APART, *words.FORMS),
        *(*words.PROPERTIES, *words.TIMES, *words.TIME_PARTS, *words.CODECS_OF_WORDS),
        *("ansicpg", "fcharset", "f", "deff", "plain", "uc", "u", "v", "deleted", "bin"),
        *("intbl", "cell", "row", "pard", "rtf", "field", "fldrslt", "unknown"),
    }
)

NUMBERS: Final = (
    *("", "0", "1", "-1", "2", "437", "932", "1252", "1200", "65001", "37", "2025", "8364"),
    *("-10179", "-8704", "55357", "65535", "65536", "9999999999", "-9999999999", "00001"),
)

control_words = st.builds(
    lambda word, number, end: f"\\{word}{number}{end}".encode(),
    st.sampled_from(WORDS),
    st.sampled_from(NUMBERS) | st.sampled_from(sorted(map(str, words.CODECS_OF_CHARACTER_SETS))),
    st.sampled_from(["", " ", "  "]),
)

pieces = st.one_of(
    control_words,
    control_words,
    st.sampled_from([b"\\'e9", b"\\'", b"\\'zz", b"\\*", b"\\~", b"\\\\", b"\\{", b"\\", b"\\\n"]),
    st.sampled_from([b"{", b"}", b"\\bin3 {}}", b"\0", b"\r\n", b"\x81\xff", b"\xef\xbb\xbf"]),
    st.binary(max_size=6),
    st.text(max_size=6).map(lambda text: text.encode(errors="replace")),
)


def _group(parts: list[bytes]) -> bytes:
    return b"{" + b"".join(parts) + b"}"


groups = st.recursive(pieces, lambda inner: st.lists(inner, max_size=6).map(_group), max_leaves=25)

repeated = st.builds(
    lambda part, times: part * times, groups, st.sampled_from([1, 1, 1, 50, 3_000])
)

bodies = st.lists(groups | repeated, max_size=12).map(b"".join)

encodings = st.sampled_from(["utf-16", "utf-8-sig"])


def read(data: bytes) -> Extracted:
    return extract_from(BytesIO(data), Path("a.rtf"), ExtractionOptions())


def test_any_control_words_are_read() -> None:
    def is_read(body: bytes, end: bytes) -> None:
        extracted = read(b"{\\rtf1\\ansi" + body + end)
        check_document(extracted.text, extracted.title, extracted.metadata)
        assert extracted.text == normalize(extracted.text)

    fuzz(is_read, body=bodies, end=st.sampled_from([b"", b"}", b"}}}"]))


def test_any_bytes_behind_a_byte_order_mark_are_read() -> None:
    def is_read(body: bytes, encoding: str) -> None:
        data = ("{\\rtf1 " + body.decode("latin-1")).encode(encoding)
        extracted = read(data)
        check_document(extracted.text, extracted.title, extracted.metadata)

    fuzz(is_read, body=bodies, encoding=encodings)


def _written(text: str) -> bytes:
    """A text as Word writes it."""
    units = text.encode("utf-16-le")
    numbers = (
        int.from_bytes(units[place : place + 2], "little", signed=True)
        for place in range(0, len(units), 2)
    )
    return b"{\\rtf1\\uc1 " + b"".join(b"\\u%d?" % number for number in numbers) + b"}"


def test_text_is_read_as_it_was_written() -> None:
    def is_the_same(text: str) -> None:
        assert read(_written(text)).text == normalize(text)

    fuzz(is_the_same, text=st.text(max_size=60))
