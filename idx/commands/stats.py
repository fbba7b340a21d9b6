"""Command `idx stats`."""

from idx.cli.options import DEFAULT_INDEX_PATH, IndexPath, Json
from idx.output.printing import print_json


def stats(index_path: IndexPath = DEFAULT_INDEX_PATH, as_json: Json = False) -> None:
    """Show the size and state of the index.

    Example: idx stats --json
    """
    from shared.reading.searcher import Searcher

    with Searcher(index_path) as searcher:
        figures = searcher.statistics()
    if as_json:
        print_json(figures)
        return
    from idx.output.printing import print_table

    print_table(
        ["", ""],
        [
            ("Index", str(figures.path)),
            ("Documents", f"{figures.documents:,}"),
            ("Chunks", f"{figures.chunks:,}"),
            ("Deleted chunks", f"{figures.deleted_chunks:,}"),
            ("Segments", f"{figures.segments:,}"),
            ("Size", f"{figures.size_bytes / 1e6:,.2f} MB"),
            (
                "Languages",
                ", ".join(f"{code} {count:,}" for code, count in figures.languages.items()),
            ),
            ("Formats", ", ".join(f"{name} {count:,}" for name, count in figures.formats.items())),
            *(
                ("Folder", (f"{path}  {prefix and f'(as {prefix})'}".rstrip()))
                for path, prefix in figures.folders.items()
            ),
            ("Changed", figures.changed),
            ("Schema version", str(figures.schema_version)),
            (
                "Written by",
                f"mcp-lucene {figures.software_version}, Lucene {figures.lucene_version}",
            ),
        ],
        headings=False,
    )
