"""The place of a chunk in its file, as people cite it and as programs open it."""

from typing import Final

from idx.excerpts import match_line
from shared.model.search_results import Citation, Hit

_UNITS: Final = ("page", "slide", "sheet", "line")


def cited(chunk: Citation) -> str:
    """The file and the place, such as ``/docs/lease.pdf, pages 3-4``; empty without a file."""
    parts = [chunk.file_path] if chunk.file_path else []
    for unit in _UNITS:
        first, last = getattr(chunk, f"{unit}_start"), getattr(chunk, f"{unit}_end")
        if parts and first is not None:
            parts.append(f"{unit} {first}" if first == last else f"{unit}s {first}-{last}")
    return ", ".join(parts)


def address(hit: Hit) -> str:
    """The file with a line or a page, such as ``/docs/notes.txt:12``, ``/docs/lease.pdf#page=3``.

    The line is that of the first match if the chunk has its lines, else where the chunk begins. Of
    a document without a file it is the id.
    """
    if not hit.file_path:
        return hit.source_document
    if hit.line_start is not None:
        return f"{hit.file_path}:{hit.line_start + match_line(hit.passages, hit.content)}"
    return hit.file_path if hit.page_start is None else f"{hit.file_path}#page={hit.page_start}"
