"""Command `idx fields`."""

from typing import TYPE_CHECKING

from idx.cli.options import DEFAULT_INDEX_PATH, IndexPath, Json
from idx.output.printing import print_json, tell
from shared.messages import quantity

if TYPE_CHECKING:
    from shared.model.index_results import FieldDescription


def fields(index_path: IndexPath = DEFAULT_INDEX_PATH, as_json: Json = False) -> None:
    """List the fields for searches, filters, sort orders and facets.

    Example: idx fields --json
    """
    from shared.model.filters import configured_collections
    from shared.reading.searcher import Searcher

    with Searcher(index_path, collections=configured_collections()) as searcher:
        answer = searcher.fields()
    if as_json:
        print_json(answer)
        return
    from idx.output.printing import print_table

    print_table(
        ["Field", "Kind", "Chunks", "Use", "In a query", "Holds"],
        (
            (
                field.name,
                field.kind,
                f"{field.chunks:,}",
                _uses(field),
                field.query_name or "",
                field.meaning or f"such as {', '.join(field.examples)}",
            )
            for field in answer.fields
        ),
    )
    tell(quantity(answer.total_chunks, "chunk"))


def _uses(field: "FieldDescription") -> str:
    """Return the possible uses of a field, in words."""
    uses = {
        "search": field.searchable,
        "filter": field.filterable,
        "sort": field.sortable,
        "facet": field.facet,
    }
    return ", ".join(use for use, possible in uses.items() if possible)
