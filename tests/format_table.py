"""The table of formats in ``docs/formats.md``, made of the table in the code.

``python -m tests.format_table`` writes it.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from idx.extraction.formats import FORMATS, PLAIN_TEXT, Format
from idx.extraction.media_types import names_of

PAGE: Final = Path(__file__).parents[1] / "docs" / "formats.md"

_TABLE: Final = re.compile(r"(?<=<!-- formats -->\n).*?(?=<!-- end of formats -->)", re.DOTALL)


def table() -> str:
    """Return the table of formats, in Markdown."""
    return "".join(f"{line}\n" for line in _lines())


def _lines() -> Iterator[str]:
    yield "| format | names | text | pages | title and metadata | library |"
    yield "|---|---|---|---|---|---|"
    for media_type, each in FORMATS.items():
        yield _line(each, " ".join(f"`{name}`" for name in names_of(media_type)))
    yield _line(PLAIN_TEXT, "any")


def _line(each: Format, names: str) -> str:
    cells = (each.title, names, each.text, each.unit, each.metadata, each.library)
    return f"| {' | '.join(cells)} |".replace("|  |", "| |").replace("|  |", "| |")


def page() -> str:
    """Return the page with the table in its place."""
    return _TABLE.sub(lambda _: table(), PAGE.read_text("utf-8"))


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8", newline="\n")
