"""The values of a field among the matches, for people."""

from typing import Final

from idx.tables import Unbroken, print_table
from shared.model.search_results import Facet

_OF_PATHS: Final = {"file_path", "source_document"}


def print_facet(facet: Facet) -> None:
    """Print the most frequent values of a field with the number of chunks that have each."""
    kind = Unbroken if facet.field in _OF_PATHS else str
    rows = [(kind(entry.value), f"{entry.count:,}") for entry in facet.values]
    if facet.distinct > len(rows):
        rows.append((f"and {facet.distinct - len(rows):,} more", ""))
    print_table([facet.field, "chunks"], rows)
