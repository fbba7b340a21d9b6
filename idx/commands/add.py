"""`idx add`."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from idx.options import DEFAULT_INDEX_PATH, IndexPath, Json, Wait
from idx.output import print_json, say, warn
from shared.document import Document
from shared.errors import InvalidDocumentError, SourceFileError
from shared.settings import DEFAULT_MAX_MEGABYTES, DEFAULT_WAIT


def add(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FILE]...", readable=False, help="Files to add."),
    ] = None,
    document_id: Annotated[
        str | None, typer.Option("--id", "-d", metavar="ID", help="Id of the one document.")
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", "-t", metavar="TITLE", help="Its title.")
    ] = None,
    content: Annotated[
        str | None, typer.Option("--content", "-c", metavar="TEXT", help="Its text.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file", "-f", metavar="FILE", readable=False, help="Or the file of its text."
        ),
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Encoding of text files, such as cp1252; else UTF-8."),
    ] = None,
    max_size: Annotated[
        float, typer.Option(min=0, metavar="MB", help="Largest file to read.")
    ] = DEFAULT_MAX_MEGABYTES,
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    wait: Wait = DEFAULT_WAIT,
    as_json: Json = False,
) -> None:
    """Add documents; one with the same id as before replaces it.

    Give either one document by --id, --title and one of --content and --file, or files: then a
    file's name is the id, and its title is the one in the file or else the name.

    Examples: idx add -d lease -t Lease -f lease.pdf; idx add lease.pdf notes.md
    """
    # The source is read before the index is opened: other writers need not wait for a slow PDF.
    from idx.source_file import file_document

    if files:
        if any(option is not None for option in (document_id, title, content, file)):
            raise typer.BadParameter("give files, or one document by its options, not both")
        _refuse_same_names(files)
        documents: list[Document] = []
        failures: list[SourceFileError | InvalidDocumentError] = []
        for path in files:
            try:
                documents.append(file_document(path, encoding, max_size))
            except (SourceFileError, InvalidDocumentError) as error:
                failures.append(error)
                say(f"Error: {error}")
    else:
        if document_id is None or title is None:
            raise typer.BadParameter("give --id and --title, or the files to add")
        if (content is None) == (file is None):
            raise InvalidDocumentError("a document has one source: give --content or --file")
        if file is not None:
            documents = [file_document(file, encoding, max_size, document_id, title)]
        else:
            documents = [Document(document_id, title, content or "")]
        failures = []
    chunks = _write(documents, index_path, wait) if documents else {}
    _report(chunks, [str(failure) for failure in failures], totals=bool(files), as_json=as_json)
    if failures:
        raise typer.Exit(1)


def _refuse_same_names(files: list[Path]) -> None:
    """One of two files with the same name would silently replace the other."""
    for name, count in Counter(file.name for file in files).items():
        if count > 1:
            raise typer.BadParameter(
                f"{count} of the files are named {name!r}, which would be the id of each; "
                "add them one by one with --id, --title and --file"
            )


def _write(documents: list[Document], index_path: Path, wait: float) -> dict[str, int]:
    """Add the documents in one commit; how many chunks each has."""
    from shared.index import Index

    with Index(index_path, wait=wait, program="command") as index:
        chunks = {document.id: index.add(document) for document in documents}
    for document_id, count in chunks.items():
        if not count:
            warn(f"document '{document_id}' is empty; chunks it had before were removed")
    return chunks


def _report(chunks: dict[str, int], failures: list[str], *, totals: bool, as_json: bool) -> None:
    if as_json:
        added: list[dict[str, Any]] = [
            {"source_document": document_id, "chunks": count}
            for document_id, count in chunks.items()
        ]
        print_json({"added": added, "failed": failures})
        return
    for document_id, count in chunks.items():
        print(f"Successfully added document '{document_id}' as {count} chunks to index")
    if totals:
        print(f"Added {len(chunks)} files as {sum(chunks.values())} chunks; {len(failures)} failed")
