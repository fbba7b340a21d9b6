"""A file on disk as the text of a document."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from idx.pdf_file import read_pdf
from idx.text_file import read_text
from shared.document import Document
from shared.errors import SourceFileError
from shared.settings import DEFAULT_MAX_MEGABYTES

_MEGABYTE: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class SourceText:
    """The text of a file, and the title that the file gives itself, if it does."""

    text: str
    title: str | None


def read_source(
    file: Path, *, encoding: str | None = None, max_megabytes: float = DEFAULT_MAX_MEGABYTES
) -> SourceText:
    """Read the text of a file: PDF by its content, Markdown by its name, else plain text.

    Args:
        file: the file.
        encoding: a codec of Python for plain text; None for UTF-8, or UTF-16 and UTF-32 with a
            byte order mark.
        max_megabytes: the largest size, in units of 10⁶ bytes.

    Raises:
        SourceFileError: the file is missing, unreadable, too large, protected, damaged, not
            text, or changed while it was read.
    """
    try:
        before = file.stat()
        if file.is_dir():
            raise SourceFileError(file, "is a folder; name the files in it")
        if not file.is_file():
            raise SourceFileError(file, "is no regular file")
        if before.st_size > max_megabytes * _MEGABYTE:
            raise SourceFileError(
                file,
                f"has {before.st_size / _MEGABYTE:.1f} MB, more than the {max_megabytes:g} MB that "
                "are allowed; allow more with --max-size MB",
            )
        source = _read(file, encoding)
        after = file.stat()
    except FileNotFoundError as error:
        raise SourceFileError(file, "there is no such file") from error
    except OSError as error:
        raise SourceFileError(file, f"cannot be read: {error.strerror or error}") from error
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise SourceFileError(file, "changed while it was read; add it again")
    return source


def file_document(
    file: Path,
    encoding: str | None = None,
    max_megabytes: float = DEFAULT_MAX_MEGABYTES,
    document_id: str | None = None,
    title: str | None = None,
) -> Document:
    """A file as a document.

    Args:
        file: the file; its absolute path becomes the metadata `file_path`.
        encoding: see `read_source`.
        max_megabytes: see `read_source`.
        document_id: None for the file's name.
        title: None for the title in the file, or else its name.

    Raises:
        SourceFileError: the file cannot be read, see `read_source`.
        InvalidDocumentError: its name or text is not valid Unicode.
    """
    source = read_source(file, encoding=encoding, max_megabytes=max_megabytes)
    return Document(
        id=document_id if document_id is not None else file.name,
        title=title or source.title or file.name,
        content=source.text,
        metadata={"file_path": str(file.absolute())},
    )


def _read(file: Path, encoding: str | None) -> SourceText:
    with file.open("rb") as stream:
        beginning = stream.read(1024)
    # Readers of PDF accept the header anywhere in the first 1,024 bytes (ISO 32000-1, annex H).
    if b"%PDF-" in beginning:
        pdf = read_pdf(file)
        return SourceText(pdf.text, pdf.title)
    text = read_text(file, encoding)
    find_title = _TITLES.get(file.suffix.lower())
    return SourceText(text, find_title(text) if find_title else None)


def _markdown_title(text: str) -> str | None:
    """The first heading of level one outside fenced code."""
    fenced = False
    for line in text.splitlines():
        if line.startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and line.startswith("# ") and line[2:].strip():
            return line[2:].strip().rstrip("#").strip() or None
    return None


_TITLES: Final[dict[str, Callable[[str], str | None]]] = {
    ".md": _markdown_title,
    ".markdown": _markdown_title,
}
