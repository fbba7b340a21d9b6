"""The body of a Rich Text document, or a note, header or footer of it: paragraphs and tables."""

from dataclasses import dataclass, field

from idx.extraction.markup.markup import row_text


@dataclass(slots=True)
class Story:
    """A text that stands by itself; a row of its tables becomes a line.

    Attributes:
        pieces: the text so far.
    """

    pieces: list[str] = field(default_factory=list)
    _cells: list[str] = field(default_factory=list)
    _row_start: int | None = None
    _left_row: int | None = None
    _is_after_row: bool = False

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self.pieces)

    def write(self, text: str) -> None:
        """Add text."""
        if self._is_after_row and self._row_start is None:
            self._is_after_row = False
            self.pieces.append("\n")
        self.pieces.append(text)

    def begin_row(self) -> None:
        """What follows is a paragraph in a table."""
        if self._row_start is None:
            self._row_start = len(self.pieces) if self._left_row is None else self._left_row

    def end_cell(self) -> None:
        """The text since the last cell is a cell."""
        start = len(self.pieces) if self._row_start is None else self._row_start
        self._cells.append(" ".join("".join(self.pieces[start:]).split()))
        del self.pieces[start:]
        self._row_start = start

    def end_row(self) -> None:
        """The cells are a row."""
        if self.pieces and not self.pieces[-1].endswith("\n"):
            self.pieces.append("\n")
        self.pieces.append(f"{row_text(self._cells)}\n")
        self._cells.clear()
        self._row_start = len(self.pieces)
        self._is_after_row = True

    def end_paragraph_styles(self) -> None:
        """The next paragraph is in no table unless it says so."""
        if not self._cells:
            self._left_row, self._row_start = self._row_start, None
