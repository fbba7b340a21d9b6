"""`idx add`."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from idx.crawl import Selection
from idx.options import DEFAULT_INDEX_PATH, IndexPath, Json, Wait
from idx.output import print_json, say, tell, warn
from shared.document import Document
from shared.errors import InvalidDocumentError, SourceFileError
from shared.settings import DEFAULT_MAX_MEGABYTES, DEFAULT_WAIT


def add(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PATH]...", readable=False, help="Files and folders to add."),
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
    include: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Of a folder, only files that match; repeatable."),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Of a folder, no files or folders that match."),
    ] = None,
    hidden: Annotated[
        bool, typer.Option("--hidden", help="Take names that begin with a dot, too.")
    ] = False,
    follow_links: Annotated[
        bool, typer.Option("--follow-links", help="Follow symbolic links in a folder.")
    ] = False,
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    wait: Wait = DEFAULT_WAIT,
    as_json: Json = False,
) -> None:
    """Add documents; one with the same id as before replaces it.

    Give either one document by --id, --title and one of --content and --file, or files and
    folders: then the id is the path within the folder given, and the title is the one in the file
    or else its name. What .gitignore and .idxignore name in a folder, private keys and password
    files are left out.

    Examples: idx add -d lease -t Lease -f lease.pdf; idx add ~/Documents --exclude 'old/'
    """
    one = (document_id, title, content, file)
    _check_arguments(paths, *one)
    selection = Selection(include or (), exclude or (), hidden, follow_links)
    from idx.progress import counted
    from idx.source_file import file_document
    from shared.index import Index

    read = partial(file_document, encoding=encoding, max_megabytes=max_size)
    documents = _documents(paths or [], selection, read, *one)
    chunks: dict[str, int] = {}
    failures: list[str] = []
    with Index(index_path, wait=wait, program="batch" if paths else "command") as index:
        for make in counted(documents, "files"):
            try:
                if isinstance(make, SourceFileError):
                    raise make
                document = make()
                chunks[document.id] = index.add(document)
            except (SourceFileError, InvalidDocumentError) as error:
                failures.append(str(error))
                say(f"Error: {error}")
    for added, count in chunks.items():
        if not count:
            warn(f"document '{added}' is empty; chunks it had before were removed")
    _report(chunks, failures, totals=bool(paths), as_json=as_json)
    if failures:
        raise typer.Exit(1)


def _documents(
    paths: list[Path],
    selection: Selection,
    read: Callable[..., Document],
    document_id: str | None,
    title: str | None,
    content: str | None,
    file: Path | None,
) -> Iterator[Callable[[], Document] | SourceFileError]:
    """What makes each document: it may fail without costing the others."""
    from idx.sources import named_files

    for found in named_files(paths, selection):
        if isinstance(found, SourceFileError):
            yield found
        else:
            name, path = found
            yield partial(read, path, document_id=name)
    if file is not None:
        yield partial(read, file, document_id=document_id, title=title)
    if content is not None:
        yield partial(Document, document_id or "", title or "", content)


def _check_arguments(
    paths: list[Path] | None,
    document_id: str | None,
    title: str | None,
    content: str | None,
    file: Path | None,
) -> None:
    if not paths:
        if document_id is None or title is None:
            raise typer.BadParameter("give --id and --title, or the files and folders to add")
        if (content is None) == (file is None):
            raise InvalidDocumentError("a document has one source: give --content or --file")
        return
    if any(option is not None for option in (document_id, title, content, file)):
        raise typer.BadParameter("give paths, or one document by its options, not both")


def _report(chunks: dict[str, int], failures: list[str], *, totals: bool, as_json: bool) -> None:
    if as_json:
        added = [{"source_document": name, "chunks": count} for name, count in chunks.items()]
        print_json({"added": added, "failed": failures})
    elif totals:
        total = sum(chunks.values())
        tell(f"Added {len(chunks)} files as {total} chunks; {len(failures)} failed")
    else:
        for name, count in chunks.items():
            tell(f"Successfully added document '{name}' as {count} chunks to index")
