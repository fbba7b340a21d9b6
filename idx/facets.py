"""The values of a field among the matches, for people."""

from idx.tables import print_table
from shared.results import Facet


def print_facet(facet: Facet) -> None:
    """Print the most frequent values of a field with the number of chunks that have each."""
    rows = [(entry.value, f"{entry.count:,}") for entry in facet.values]
    if facet.distinct > len(rows):
        rows.append((f"and {facet.distinct - len(rows):,} more", ""))
    print_table([facet.field, "chunks"], rows)
