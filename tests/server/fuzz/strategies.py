"""Hostile texts, ids, arguments and messages, as hypothesis draws them."""

import json
from collections.abc import Sequence
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from server.tools.table import TOOLS

IDS: Final = ("manual", "manual-chunk-001", "a/../b", "a/../b-chunk-001", "menu-chunk-001")
"""Ids that the index of these tests has."""

_SYNTAX: Final = (
    *'+-&|!(){}[]^"~*?:\\/<>=,;.@#%_ \t\n\r',
    *("AND", "OR", "NOT", " TO ", "&&", "||", "~2", "^1e400", "^-1", "{1,999}", "[^", "*a*b*"),
    *("content:", "title:", "id:", "year:", "number.year:", "_exists_:", "*:*", "[* TO *]"),
    *("/[ab]*a[ab]{9}/", "/(((a+)+)+)+$/", "word1", "word1*", '"word1 word2"~9', "café"),
)

_CHARACTERS: Final = (
    *"\0\x01\x07\x1b\x7f\x85\u00a0\u00ad\u200b\u200d\u200f\u202e\u2028\ufeff\ufffe\U0010ffff",
    *("字", "ß", "İ", "ﷺ", "שלום", "مرحبا", "🦦", "👩\u200d👩\u200d👧", "é", "e\u0301" * 20),
    *("9" * 30, "1e400", "-0", "NaN", "null", "{}", "${jndi:ldap://x}", "%00", "' OR 1=1 --"),
)

_PATHS: Final = ("../", "..\\", "/etc/passwd", "file:///", "%2e%2e/", "C:\\", "~", "//", "\0.pdf")

HALVES: Final = ("\ud800", "\udfff", "\udc00\ud800")
"""What no text may hold: halves of surrogate pairs."""

_pieces = st.lists(
    st.sampled_from([*_SYNTAX, *_CHARACTERS, *_PATHS]) | st.text(max_size=8), max_size=25
).map("".join)

_repeated = st.builds(
    lambda piece, times: (piece * times)[:60_000],
    st.sampled_from([*_SYNTAX, *_CHARACTERS]),
    st.sampled_from([100, 2_100, 20_000]),
)

texts: SearchStrategy[str] = _pieces | _pieces | _pieces | _repeated
"""Queries, names and ids, most of them short."""

ids = (
    st.sampled_from(IDS)
    | st.builds("".join, st.lists(st.sampled_from([*IDS, *_PATHS, "-chunk-"]), max_size=4))
    | texts
)

numbers = st.sampled_from(
    [0, 1, -1, 2**31 - 1, 2**31, 2**63, -(2**64), 10**30, 0.5, -0.0, 1e308, 5e-324]
)

values: SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)
"""Anything that JSON can spell."""


def fitting(schema: dict[str, Any], root: dict[str, Any]) -> SearchStrategy[Any]:
    """What mostly fits a schema of JSON, with hostile texts and at the bounds of numbers."""
    match schema:
        case {"$ref": str() as reference}:
            return fitting(root["$defs"][reference.rpartition("/")[2]], root)
        case {"anyOf": [*kinds]} | {"oneOf": [*kinds]}:
            return st.one_of(*(fitting(kind, root) for kind in kinds))
        case {"enum": [*choices]}:
            return st.sampled_from(choices)
        case {"const": choice}:
            return st.just(choice)
        case {"type": "object", "properties": dict() as properties}:
            parts = {name: fitting(part, root) for name, part in properties.items()}
            required = {name: parts.pop(name) for name in schema.get("required", ())}
            return st.fixed_dictionaries(required, optional=parts)
    low, high = schema.get("minimum", 0), schema.get("maximum", 100)
    bounds = st.sampled_from([low, low + 1, min(low + 7, high), high])
    items = values if schema.get("type") != "array" else fitting(schema.get("items", {}), root)
    by_type = {
        "string": ids,
        "integer": bounds,
        "number": bounds,
        "boolean": st.booleans(),
        "array": st.lists(items, max_size=3),
    }
    return by_type.get(schema.get("type", ""), values)


def arguments(schema: dict[str, Any]) -> SearchStrategy[Any]:
    """Arguments of a tool: such as fit its schema, such as fit but for one, and anything."""
    fit = fitting(schema, schema)
    names = st.one_of(*map(st.just, sorted(schema["properties"])), texts)
    spoilt = st.builds(
        lambda given, name, value: {**given, name: value}, fit, names, values | texts
    )
    return fit | fit | fit | spoilt | st.dictionaries(names, values, max_size=3)


def messages(methods: Sequence[str]) -> SearchStrategy[bytes]:
    """Lines that are nearly messages, or nothing of the kind."""
    message_ids = st.integers(0, 9) | st.sampled_from(["a", "", "é", 2**70]) | values
    parameters = st.fixed_dictionaries(
        {},
        optional={
            "name": st.sampled_from([*TOOLS, "nobody"]) | values,
            "arguments": st.dictionaries(st.sampled_from(["query", "chunk_id", "x"]), values)
            | values,
            "uri": ids | values,
            "cursor": values,
            "requestId": message_ids,
            "protocolVersion": st.sampled_from(["2025-06-18", "1999-01-01", ""]) | values,
            "_meta": values,
        },
    )
    objects = st.fixed_dictionaries(
        {},
        optional={
            "jsonrpc": st.just("2.0") | st.just("2.0") | values,
            "id": message_ids,
            "method": st.sampled_from(methods) | st.sampled_from(methods) | values,
            "params": parameters | parameters | values,
            "result": values,
            "error": values,
        },
    )
    lines = (objects | values | st.lists(objects, max_size=3)).map(
        lambda message: json.dumps(message).encode()
    )
    halves = st.builds(
        lambda line, half: line.replace(b"2.0", half), lines, st.sampled_from([b"\\ud800", b"\xff"])
    )
    cut = st.builds(lambda line, end: line[: end % (len(line) + 1)], lines, st.integers(0, 500))
    deep = st.builds(
        lambda opening, times: opening * times,
        st.sampled_from(
            [b"[", b'{"a":', b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":']
        ),
        st.sampled_from([150, 250, 20_000]),
    )
    return (lines | lines | lines | halves | cut | deep | st.binary(max_size=30)).map(
        # What is one line here is one there.
        lambda line: line.replace(b"\n", b" ").replace(b"\r", b" ")
    )
