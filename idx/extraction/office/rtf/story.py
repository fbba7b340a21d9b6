"""Stories of an RTF document (body, note, header or footer), with paragraphs and tables."""

from dataclasses import dataclass, field
from typing import Final

from idx.extraction.markup.markup import row_text

_MIN_NUMBER: Final = 2
"""Minimum length of a number that has letters; a single one is a bullet of a symbol font, or o."""


@dataclass(slots=True)
class Story:
    """Separate text of a document; a row of its tables becomes a line.

    Attributes:
        pieces: the text so far.
    """

    pieces: list[str] = field(default_factory=list)
    _cells: list[str] = field(default_factory=list)
    _row_start: int | None = None
    _left_row: int | None = None
    _is_after_row: bool = False
    _number: str = ""

    @property
    def text(self) -> str:
        """Complete text."""
        return "".join(self.pieces)

    def write(self, text: str) -> None:
        """Add text."""
        if self._is_after_row and self._row_start is None:
            self._is_after_row = False
            self.pieces.append("\n")
        self.pieces.append(self._number + text)
        self._number = ""

    def number(self, text: str) -> None:
        """Put a number before the text that follows, perhaps in a cell; bullets are left out."""
        text = text.strip()
        is_bullet = len(text) < _MIN_NUMBER and not text.isdecimal()
        self._number = "" if is_bullet else f"{text} "

    def begin_row(self) -> None:
        """Begin a paragraph in a table."""
        if self._row_start is None:
            self._row_start = len(self.pieces) if self._left_row is None else self._left_row

    def end_cell(self) -> None:
        """End a cell, which contains the text since the last one."""
        if self._number:
            self.write("")
        start = len(self.pieces) if self._row_start is None else self._row_start
        self._cells.append(" ".join("".join(self.pieces[start:]).split()))
        del self.pieces[start:]
        self._row_start = start

    def end_row(self) -> None:
        """End a row, which consists of the cells so far."""
        if self.pieces and not self.pieces[-1].endswith("\n"):
            self.pieces.append("\n")
        self.pieces.append(f"{row_text(self._cells)}\n")
        self._cells.clear()
        self._row_start = len(self.pieces)
        self._is_after_row = True

    def end_paragraph_styles(self) -> None:
        """Reset paragraph properties, so that the next paragraph is outside a table by default."""
        if not self._cells:
            self._left_row, self._row_start = self._row_start, None
