"""Command `idx bulk`."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

import typer

from idx.cli.options import DEFAULT_INDEX_PATH, IndexPath, Json, LayoutOption, Vectors, Wait
from idx.embedding import embed_added
from idx.output.printing import created, print_json, say, tell, warn
from shared.model.document import Document
from shared.settings.defaults import DEFAULT_WAIT


def bulk(
    json_file: Annotated[
        str,
        typer.Option("--json-file", "-j", metavar="FILE", help="JSON file; - is standard input."),
    ],
    layout: LayoutOption = None,
    vectors: Vectors = "now",
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    wait: Wait = DEFAULT_WAIT,
    as_json: Json = False,
) -> None:
    """Add the documents in a JSON file: all of them, or none if the file is malformed.

    The file is an array of {"Id", "Title", "Content"} objects, or has one object per line (JSON
    Lines). Other keys become metadata. Entries without an id or a title are skipped.

    Example: idx bulk -j documents.jsonl
    """
    from idx.cli.bulk_file import document_of, read_bulk
    from idx.output.progress import counted
    from idx.output.runs import reported_interruption
    from idx.sync.interruption import Kept, uninterrupted
    from shared.model.metadata import note_on_others
    from shared.writing.index import Index

    documents = chunks = empty = skipped = 0
    others: dict[str, None] = {}

    def complete() -> Iterator[Document]:
        nonlocal skipped
        for number, entry in counted(read_bulk(json_file), "entries"):
            document = document_of(json_file, number, entry)
            if document is not None:
                _, too_many = index.within_limits(document)
                others.update(dict.fromkeys(too_many))
                yield replace(document, layout=layout or "join")
                continue
            skipped += 1
            missing = "title" if entry.id else "id"
            say(f"Skipped entry {number}: it has no {missing}.")

    kept = Kept()
    with (
        reported_interruption(kept),
        Index(index_path, wait=wait, program="batch", create=True) as index,
    ):
        for document, added in index.add_all(complete()):
            chunks += added
            if added:
                documents += 1
            else:
                empty += 1
                warn(
                    f"the content of document '{document.id}' is empty; if it had chunks, they "
                    "were removed"
                )
        with uninterrupted():
            index.commit()
            kept.documents = documents
    if index.created:
        say(created(index.path))
    if others:
        warn(note_on_others([*others]))
    if as_json:
        print_json({"documents": documents, "chunks": chunks, "empty": empty, "skipped": skipped})
    else:
        tell(f"Successfully added {documents} documents as {chunks} total chunks to index")
    embed_added(index_path, wait, vectors)
