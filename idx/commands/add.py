"""`idx add`."""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from idx.options import DEFAULT_INDEX_PATH, IndexPath, Json, Wait
from idx.output import print_json, say, tell, warn
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
    one = (document_id, title, content, file)
    _check_arguments(files, *one)
    documents = _documents(files, encoding, max_size, *one)
    chunks: dict[str, int] = {}
    failures: list[str] = []
    from shared.index import Index

    with Index(index_path, wait=wait, program="command") as index:
        for make in documents:
            try:
                document = make()
                chunks[document.id] = index.add(document)
            except (SourceFileError, InvalidDocumentError) as error:
                failures.append(str(error))
                say(f"Error: {error}")
    for added, count in chunks.items():
        if not count:
            warn(f"document '{added}' is empty; chunks it had before were removed")
    _report(chunks, failures, totals=bool(files), as_json=as_json)
    if failures:
        raise typer.Exit(1)


def _check_arguments(
    files: list[Path] | None,
    document_id: str | None,
    title: str | None,
    content: str | None,
    file: Path | None,
) -> None:
    if not files:
        if document_id is None or title is None:
            raise typer.BadParameter("give --id and --title, or the files to add")
        if (content is None) == (file is None):
            raise InvalidDocumentError("a document has one source: give --content or --file")
        return
    if any(option is not None for option in (document_id, title, content, file)):
        raise typer.BadParameter("give files, or one document by its options, not both")
    for name, count in Counter(path.name for path in files).items():
        # One of two files with the same name would silently replace the other.
        if count > 1:
            raise typer.BadParameter(
                f"{count} of the files are named {name!r}, which would be the id of each; "
                "add them one by one with --id, --title and --file"
            )


def _documents(
    files: list[Path] | None,
    encoding: str | None,
    max_size: float,
    document_id: str | None,
    title: str | None,
    content: str | None,
    file: Path | None,
) -> Iterator[Callable[[], Document]]:
    """What makes each document; one may fail without costing the others."""
    from idx.source_file import file_document

    for path in files or []:
        yield partial(file_document, path, encoding, max_size)
    if file is not None:
        yield partial(file_document, file, encoding, max_size, document_id, title)
    if content is not None:
        yield partial(Document, document_id or "", title or "", content)


def _report(chunks: dict[str, int], failures: list[str], *, totals: bool, as_json: bool) -> None:
    if as_json:
        added = [{"source_document": name, "chunks": count} for name, count in chunks.items()]
        print_json({"added": added, "failed": failures})
        return
    for document_id, count in chunks.items():
        tell(f"Successfully added document '{document_id}' as {count} chunks to index")
    if totals:
        total = sum(chunks.values())
        tell(f"Added {len(chunks)} files as {total} chunks; {len(failures)} failed")
