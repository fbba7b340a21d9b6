"""JSON with comments and trailing commas, edited in place.

Everything except the changed value is kept, character by character. No Python library does this:
those that accept comments rewrite the file, or need Node.js. So comments are replaced by blanks,
which leaves valid JSON with every character in its place, and the module `json` finds where values
begin and end.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

# An unterminated string extends to the end; otherwise the search would retry at its next quote.
_STRING: Final = r'"(?:[^"\\]|\\.)*+(?:"|.*)'
_COMMENT: Final = re.compile(rf"{_STRING}|(?P<comment>//[^\r\n]*|/\*.*?\*/)|/\*.*", re.DOTALL)
_TRAILING_COMMA: Final = re.compile(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)
_BLANK: Final = re.compile(r"[ \t\r\n]*")
_INDENTED_KEY: Final = re.compile(r'^([ \t]+)"', re.MULTILINE)

_decode: Final = json.JSONDecoder().raw_decode


@dataclass(frozen=True, slots=True)
class _Member:
    """Key and value in an object, as positions in the text."""

    key: str
    key_start: int
    start: int
    end: int


def parse(text: str) -> dict[str, Any]:
    """Parse an object; blank text is an empty object.

    Raises:
        ValueError: it is not valid JSON, or not an object; the message gives the place and reason.
    """
    if not text.strip():
        return {}
    try:
        value = json.loads(_strict(text))
    except RecursionError as error:
        raise ValueError("values are nested too deeply") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}, column {error.colno}: {error.msg}") from error
    if not isinstance(value, dict):
        raise ValueError("there is no object in braces")  # noqa: TRY004 - an error of the text
    return value


def with_value(text: str, path: Sequence[str], value: Any) -> str:
    """Return a text with a value set at a path, adding missing objects on the way.

    Args:
        text: a text that `parse` accepts, in which every value on the way is an object.
        path: the keys.
        value: the new value.
    """
    if not text.strip():
        text = f"{{}}{_newline(text)}"
    strict = _strict(text)
    start = _after_blanks(strict, 0)
    for depth, key in enumerate(path):
        members, close = _members(strict, start)
        found = [member for member in members if member.key == key]
        if not found:
            for missing in reversed(path[depth + 1 :]):
                value = {missing: value}
            return _with_member(text, start, members, close, key, value)
        # The last of several equal keys is the effective one.
        start, end = found[-1].start, found[-1].end
    return text[:start] + _formatted(text, value, _indentation(text, start)) + text[end:]


def _with_member(
    text: str, start: int, members: list[_Member], close: int, key: str, value: Any
) -> str:
    """Return a text with a member added at the end of the object between `start` and `close`."""
    newline = _newline(text)
    outer = _indentation(text, start)
    inner = outer + _unit(text)
    if members and _begins_line(text, members[-1].key_start):
        inner = _indentation(text, members[-1].key_start)
    member = f"{json.dumps(key)}: {_formatted(text, value, inner)}"
    # After the comments that follow the last member.
    end = len(text[:close].rstrip())
    if "\n" in (rest := text[end:close]):
        # Blanks at the end of a line may be part of a comment.
        end += len(rest.partition("\n")[0].rstrip("\r"))
    blanks = text[end:close]
    if "\n" not in blanks:
        blanks = newline + outer
    if not members:
        return f"{text[:end]}{newline}{inner}{member}{blanks}{text[close:]}"
    last = members[-1].end
    ends_in_comma = "," in _without_comments(text)[last:close]
    before = text[:last] + ("" if ends_in_comma else ",") + text[last:end]
    return f"{before}{newline}{inner}{member}{',' if ends_in_comma else ''}{blanks}{text[close:]}"


def _members(strict: str, start: int) -> tuple[list[_Member], int]:
    """Return the members of the object at a position, and the position of its closing brace."""
    members = []
    position = _after_blanks(strict, start + 1)
    while strict[position] != "}":
        key, colon = _decode(strict, position)
        value = _after_blanks(strict, _after_blanks(strict, colon) + 1)
        _, end = _decode(strict, value)
        members.append(_Member(key, position, value, end))
        position = _after_blanks(strict, end)
        if strict[position] == ",":
            position = _after_blanks(strict, position + 1)
    return members, position


def _strict(text: str) -> str:
    """Return the text as strict JSON, with everything else replaced by blanks."""
    return _TRAILING_COMMA.sub(
        lambda match: " " if match[0] == "," else match[0], _without_comments(text)
    )


def _without_comments(text: str) -> str:
    return _COMMENT.sub(
        lambda match: re.sub(r"[^\r\n]", " ", match[0]) if match["comment"] else match[0], text
    )


def _formatted(text: str, value: Any, indentation: str) -> str:
    """Return a value formatted for the text, without an indentation of its first line."""
    written = json.dumps(value, ensure_ascii=False, indent=_unit(text))
    return written.replace("\n", _newline(text) + indentation)


def _after_blanks(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match else position


def _indentation(text: str, position: int) -> str:
    """Return the indentation of the line that contains a position."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _begins_line(text: str, position: int) -> bool:
    return not text[text.rfind("\n", 0, position) + 1 : position].strip()


def _unit(text: str) -> str:
    """Return the indentation of one level."""
    found = _INDENTED_KEY.search(text)
    return found[1] if found else "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
