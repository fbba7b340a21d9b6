"""The place of a chunk in its file, as people cite it."""

from typing import Final

from shared.results import Citation

_UNITS: Final = ("page", "slide", "sheet", "line")


def cited(chunk: Citation) -> str:
    """The file and the place, such as ``/docs/lease.pdf, pages 3-4``; empty without a file."""
    parts = [chunk.file_path] if chunk.file_path else []
    for unit in _UNITS:
        first, last = getattr(chunk, f"{unit}_start"), getattr(chunk, f"{unit}_end")
        if parts and first is not None:
            parts.append(f"{unit} {first}" if first == last else f"{unit}s {first}-{last}")
    return ", ".join(parts)
