"""JSON with comments: any text is read or refused, and a change changes what it should."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from hypothesis import strategies as st

from idx.clients import config_files as jsonc
from tests.fuzz.running import MARKS, fuzz
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
        assert only_added(text, changed)
        again = jsonc.with_value(changed, ["servers", "added", "args"], [])
        assert jsonc.parse(again)["servers"]["added"] == entry | {"args": []}
        nested = jsonc.with_value(text, ["outer", "inner", "last"], 1)
        assert jsonc.parse(nested) == value | {"outer": {"inner": {"last": 1}}}

    with_servers = st.builds(lambda value, of: value | {"servers": of}, objects, objects)
    fuzz(joins, written=written(with_servers))
