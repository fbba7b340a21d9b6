"""Changing JSON with comments in place, on texts that a person could have written."""

import json
import random
from typing import Any

import pytest

from idx.clients.config_files import parse, with_value
from tests.idx.clients.files import only_added

WORDS = ('"', "\\", "//", "/*", "*/", ",}", "{", "é", "servers")


class Writer:
    """Writes values as JSON with comments, blanks and trailing commas here and there."""

    def __init__(self, seed: int) -> None:
        self.chosen = random.Random(seed)  # noqa: S311 - layouts, no secrets

    def object(self, depth: int) -> dict[str, Any]:
        return {
            f"{self.chosen.choice(WORDS)}{number}": self.value(depth - 1)
            for number in range(self.chosen.randrange(4))
        }

    def value(self, depth: int) -> Any:
        if depth and self.chosen.random() < 0.7:
            return self.object(depth)
        return self.chosen.choice([*WORDS, 1.5, None, True, [], ["a,]", {}], {}])

    def written(self, value: Any) -> str:
        match value:
            case dict():
                members = [
                    f"{json.dumps(k)}{self.gap()}:{self.written(v)}" for k, v in value.items()
                ]
                return self.listed("{", members, "}")
            case list():
                return self.listed("[", [self.written(part) for part in value], "]")
        return f"{self.gap()}{json.dumps(value)}{self.gap()}"

    def listed(self, opening: str, parts: list[str], closing: str) -> str:
        inside = ",".join(f"{self.gap()}{part}{self.gap()}" for part in parts)
        comma = "," if parts and self.chosen.random() < 0.3 else ""
        return f"{self.gap()}{opening}{inside}{comma}{self.gap()}{closing}{self.gap()}"

    def gap(self) -> str:
        return self.chosen.choice(["", "", " ", "\n", "\n\t", ' // "a": {,\n', ' /* "}, \n */ '])


@pytest.mark.parametrize("seed", range(300))
def test_a_member_joins_an_object_of_any_layout(seed: int) -> None:
    writer = Writer(seed)
    value = writer.object(3) | {"servers": writer.object(1)}
    text = writer.written(value)
    assert parse(text) == value
    entry = {"command": "/a", "args": ["//b"]}
    changed = with_value(text, ["servers", "new"], entry)
    assert parse(changed) == value | {"servers": value["servers"] | {"new": entry}}
    assert only_added(text, changed)
    again = with_value(changed, ["servers", "new", "args"], [])
    assert parse(again)["servers"]["new"] == entry | {"args": []}
    assert parse(with_value(text, ["a", "b", "c"], 1)) == value | {"a": {"b": {"c": 1}}}


def test_of_two_members_with_one_key_the_last_counts() -> None:
    text = '{"a": {"x": 1}, "a": {"x": 2}}'
    assert with_value(text, ["a", "x"], 3) == '{"a": {"x": 1}, "a": {"x": 3}}'


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n  "])
def test_a_comment_keeps_the_blanks_at_its_end(end: str) -> None:
    changed = with_value(f'{{"servers": null // one {end}}}', ["a"], 1)
    assert "// one " + end.partition("\n")[0] + "\n" in changed
    assert parse(changed) == {"servers": None, "a": 1}
