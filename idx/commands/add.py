"""Commands `idx add` and `idx bulk`."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from idx.cli.options import (
    DEFAULT_INDEX_PATH,
    PATH,
    IndexPath,
    Json,
    LayoutOption,
    ReadingOptions,
    Vectors,
    VectorsChoice,
    Wait,
    takes,
)
from idx.errors import SourceFileError
from idx.models import embed_added, give_model
from idx.output.printing import counted, created, print_json, say, tell, warn
from idx.output.runs import print_answer, report, reported_interruption
from idx.sync.events import Event, Indexed, Kept, NotIndexed, Problem, uninterrupted
from shared.errors import InvalidDocumentError
from shared.messages import quantity
from shared.model.document import Document
from shared.settings.defaults import DEFAULT_WAIT
from shared.system.shell import quoted

if TYPE_CHECKING:
    from shared.java.vm import Program
    from shared.writing.index import Index


@takes(ReadingOptions, "reading")
def add(
    context: typer.Context,
    reading: ReadingOptions,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PATH]...", click_type=PATH, help="Files and folders to add."),
    ] = None,
    document_id: Annotated[
        str | None, typer.Option("--id", "-d", metavar="ID", help="Id of a single document.")
    ] = None,
    title: Annotated[
        str | None,
        typer.Option("--title", "-t", metavar="TITLE", help="Title of the single document."),
    ] = None,
    content: Annotated[
        str | None,
        typer.Option("--content", "-c", metavar="TEXT", help="Text of the single document."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file",
            "-f",
            metavar="FILE",
            click_type=PATH,
            help="File with the text of the single document; - is standard input.",
        ),
    ] = None,
    vectors: Vectors = "now",
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    wait: Wait = DEFAULT_WAIT,
    as_json: Json = False,
) -> None:
    """Add documents, replacing those with the same ids.

    Give either a single document, with --id, --title and one of --content and --file, or files and
    folders. The id of a file is then its path within the given folder, and its title is the one in
    the file, or else the file name. A file never replaces the document of another file, or one
    added with --id. In folders, files named by .gitignore and .idxignore, private keys and password
    files are skipped.

    Examples: idx add -d lease -t Lease -f lease.pdf; idx add ~/Documents --exclude 'old/';
    git log | idx add -d log -t 'What changed' -f -
    """
    _check_arguments(paths, document_id, title, content, file)
    if paths:
        _add_paths(context, paths, reading, index_path, wait, vectors, as_json=as_json)
        return
    from shared.files.originals import Originals

    # Read before the index is opened, which would otherwise be created even if reading fails.
    if file is None:
        layout = reading.layout or "join"
        document = Document(document_id or "", title or "", content or "", layout=layout)
    else:
        document = _read(file, reading, index_path)
        document = replace(document, id=document_id or "", title=title or "")
    before = 0
    with _opened(index_path, wait, "command", vectors) as (index, written):
        if file is not None and document.file:
            Originals.of(index_path).add([file])
        if not document.content.strip():
            before = index.chunk_count(document.id)
        count = index.add(document)
        written.documents = 1
    removed = 0 if count else before
    if not count:
        gone = f"removed {quantity(removed, 'chunk')} that it had before"
        nothing = "there was nothing to remove"
        warn(f"the content of document '{document.id}' is empty; {gone if removed else nothing}")
    if as_json:
        added, emptied = (
            [{"source_document": document.id, "chunks": chunks}] if chunks else []
            for chunks in (count, removed)
        )
        print_json({"added": added, "removed": emptied, "failed": []})
    elif count:
        tell(f"Successfully added document '{document.id}' as {count} chunks to index")
    embed_added(index_path, wait, vectors)


@contextmanager
def _opened(
    index_path: Path, wait: float, program: "Program", vectors: VectorsChoice
) -> Iterator[tuple["Index", Kept]]:
    """Lend an index, created if necessary, and what is written to it, which is then committed."""
    from shared.writing.index import Index

    kept, written = Kept(), Kept()
    with (
        reported_interruption(kept),
        Index(index_path, wait=wait, program=program, create=True) as index,
    ):
        if index.created:
            give_model(index, vectors=vectors)
        yield index, written
        with uninterrupted():
            index.commit()
            kept.documents = written.documents
    if index.created:
        say(created(index.path))


def _read(file: Path, reading: ReadingOptions, index_path: Path) -> Document:
    from idx.cli.inputs import NAME, STDIN, standard_input_as_file, without_file

    if str(file) != STDIN:
        # Absolute, as in every other message, so that its meaning does not depend on the current
        # folder.
        file = file.absolute()
        return _read_file(file, file, reading, index_path)
    with standard_input_as_file(reading.max_size) as copy:
        return without_file(_read_file(copy, NAME, reading, index_path))


def _read_file(
    file: Path, shown: Path | str, reading: ReadingOptions, index_path: Path
) -> Document:
    from idx.cli.run_options import extraction_options, limits
    from idx.extraction.pool import ExtractionPool, scans_pool
    from idx.extraction.types import Unreadable
    from idx.sync.plan import file_document, single_file
    from shared.files.access import own_files
    from shared.settings.current import configuration_file

    change = single_file(file)
    options = extraction_options(reading, index_path)
    options = replace(options, own_files=own_files([configuration_file()]))
    make_pool = scans_pool if options.ocr else ExtractionPool
    with make_pool(1, limits(reading), options) as pool:
        (result,) = (done[1] for _, done in pool.read_scans([change]) if done)
    if isinstance(result, Unreadable):
        raise SourceFileError(shown, result.reason)
    for warning in result.extracted.warnings:
        warn(f"{shown}: {warning}")
    if result.members:
        warn(
            f"{shown}: only its own text is added, without {quantity(len(result.members), 'file')} "
            f"within it, which idx add {quoted(str(shown))} adds"
        )
    return file_document(change, result, reading.layout or "join")


def _add_paths(
    context: typer.Context,
    paths: list[Path],
    reading: ReadingOptions,
    index_path: Path,
    wait: float,
    vectors: VectorsChoice,
    *,
    as_json: bool,
) -> None:
    from idx.cli.run_options import sync_options
    from idx.sync.synchronize import synchronize

    options = replace(
        sync_options(context, reading, index_path=index_path, wait=wait, vectors=vectors),
        reread=True,
    )
    added, failed = [], []

    def note(event: Event) -> None:
        match event:
            case Indexed():
                added.append({"source_document": event.source_document, "chunks": event.chunks})
            case NotIndexed():
                failed.append(f"{event.file_path}: {event.reason}")
            case Problem():
                failed.append(event.message)

    kept = Kept()
    go_on = "the same command reads all files again; idx sync reads only the remaining ones"
    with reported_interruption(kept, go_on):
        end = report(synchronize(paths, options, kept), note if as_json else print_answer)
    if as_json:
        print_json({"added": added, "failed": failed})
    embed_added(index_path, wait, vectors)
    if end is None or end.failed:
        raise typer.Exit(1)


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
        raise typer.BadParameter("give either paths or the options of a single document, not both")


def bulk(
    json_file: Annotated[
        str,
        typer.Option(
            "--json-file",
            "-j",
            metavar="FILE",
            click_type=PATH,
            help="JSON file; - is standard input.",
        ),
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
    from idx.cli.inputs import read_bulk
    from shared.model.metadata import note_on_others

    documents = chunks = empty = skipped = 0
    others: dict[str, None] = {}

    def complete() -> Iterator[Document]:
        nonlocal skipped
        for entry in counted(read_bulk(json_file), "entries"):
            if isinstance(entry, str):
                skipped += 1
                say(entry)
                continue
            _, too_many = index.within_limits(entry)
            others.update(dict.fromkeys(too_many))
            yield replace(entry, layout=layout or "join")

    with _opened(index_path, wait, "batch", vectors) as (index, written):
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
        written.documents = documents
    if others:
        warn(note_on_others([*others]))
    if as_json:
        print_json({"documents": documents, "chunks": chunks, "empty": empty, "skipped": skipped})
    else:
        tell(f"Successfully added {documents} documents as {chunks} total chunks to index")
    embed_added(index_path, wait, vectors)
