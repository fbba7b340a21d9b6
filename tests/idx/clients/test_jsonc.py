"""Changing JSON with comments in place; tests/fuzz/test_jsonc.py has texts of any layout."""

import pytest

from idx.clients.config_files import parse, with_value


def test_of_two_members_with_one_key_the_last_counts() -> None:
    text = '{"a": {"x": 1}, "a": {"x": 2}}'
    assert with_value(text, ["a", "x"], 3) == '{"a": {"x": 1}, "a": {"x": 3}}'


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n  "])
def test_a_comment_keeps_the_blanks_at_its_end(end: str) -> None:
    changed = with_value(f'{{"servers": null // one {end}}}', ["a"], 1)
    assert "// one " + end.partition("\n")[0] + "\n" in changed
    assert parse(changed) == {"servers": None, "a": 1}
