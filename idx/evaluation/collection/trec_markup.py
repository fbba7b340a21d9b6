"""Markup of TREC's documents and topics: SGML in which many tags are never closed."""

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from idx.evaluation.collection.input_file import Line, error_at

_TAG: Final = re.compile(r"</?[A-Za-z][^<>]*>")


@dataclass(frozen=True, slots=True)
class Block:
    """Content between an opening tag and its closing tag.

    Attributes:
        line: number of the line with the opening tag.
        markup: its source, including tags.
    """

    line: int
    markup: str

    def closed(self, tag: str) -> list[str]:
        """Return the text of each element with a tag, up to the closing tag."""
        found = re.findall(rf"<{tag}>(.*?)</{tag}>", self.markup, re.IGNORECASE | re.DOTALL)
        return [_text(markup) for markup in found]

    def unclosed(self, tag: str) -> str:
        """Return the text of the first element with a tag, up to the next tag; "" without one."""
        found = re.search(rf"<{tag}>(.*?)(?=</?[a-z]+>|\Z)", self.markup, re.IGNORECASE | re.DOTALL)
        return " ".join(_text(found[1]).split()) if found else ""


def blocks(file: Path, lines: Iterable[Line], tag: str) -> Iterator[Block]:
    """Yield the top-level elements of a file.

    Args:
        file: the name for an error.
        lines: the lines of the file.
        tag: the name of the elements, in lower case.

    Raises:
        SourceFileError: there is text between the elements, or one is nested or not closed.
    """
    start, parts = 0, list[str]()
    for line in lines:
        for part in re.split(rf"(</?{tag}>)", line.text + "\n", flags=re.IGNORECASE):
            is_end = part.lower() == f"</{tag}>"
            if part.lower() == f"<{tag}>" and not start:
                start, parts = line.number, []
            elif is_end and start:
                yield Block(start, "".join(parts))
                start = 0
            elif start and not is_end and part.lower() != f"<{tag}>":
                parts.append(part)
            elif start:
                raise error_at(file, line.number, f"a <{tag}> within that of line {start}")
            elif part.strip():
                raise error_at(file, line.number, f"{part.strip()[:40]!r} is outside of <{tag}>")
    if start:
        raise error_at(file, start, f"this <{tag}> has no </{tag}>")


def _text(markup: str) -> str:
    return html.unescape(_TAG.sub(" ", markup)).strip()
