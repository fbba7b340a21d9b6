"""Commands about what is in an index, from `idx list` to `idx duplicates`."""

import os
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from idx.cli.configured_command import fields as completed_fields
from idx.cli.options import DEFAULT_INDEX_PATH, CollectionName, IndexPath, Json, Plain
from idx.errors import SourceFileError
from idx.output.printing import (
    check_one_form,
    print_json,
    print_table,
    prose_for_stdout,
    say,
    shown,
    tell,
    warn,
)
from shared.errors import DocumentNotFoundError, McpLuceneError
from shared.messages import decodable, quantity
from shared.model.filters import configured_collections
from shared.model.metadata import LANGUAGE
from shared.model.request import BY_ID, DocumentSort
from shared.settings.defaults import MAX_COUNT

if TYPE_CHECKING:
    from shared.model.index_results import DocumentDetails, FieldDescription
    from shared.reading.searcher import Searcher


def list_documents(
    prefix: Annotated[
        str,
        typer.Option(metavar="TEXT", help="List only documents whose ids begin with this text."),
    ] = "",
    collection: CollectionName = None,
    offset: Annotated[int, typer.Option(min=0, help="Number of documents to skip.")] = 0,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of documents; all by default.")
    ] = None,
    sort: Annotated[
        DocumentSort,
        typer.Option(
            metavar="ORDER",
            help="Sort by source_document, modified, title or chunks; a minus, as in -modified, "
            "reverses the order.",
        ),
    ] = BY_ID,
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    plain: Plain = False,
    as_json: Json = False,
) -> None:
    """List the documents in the index.

    With --json, each document has all of its metadata, as in the result of the tool ListDocuments
    with detail=full.

    Examples: idx list --prefix contracts/ --sort -modified --limit 20; idx list --plain
    """
    check_one_form(as_json=as_json, plain=plain)
    from shared.reading.searcher import Searcher

    with Searcher(index_path, collections=configured_collections()) as searcher:
        answer = searcher.documents(
            prefix=prefix, offset=offset, limit=limit, sort=sort, collection=collection
        )
    if as_json:
        print_json(answer)
        return
    if plain:
        for document in answer.documents:
            tell(document.file_path or document.source_document)
        return
    print_table(
        ["Document", "Title", "Chunks", "Language", "File"],
        (
            (
                document.source_document,
                prose_for_stdout(document.title),
                str(document.chunk_count),
                str(document.metadata.get(LANGUAGE, "")),
                document.file_path or "",
            )
            for document in answer.documents
        ),
    )
    documents = quantity(answer.total_documents, "document")
    tell(f"{documents}, {quantity(answer.total_chunks, 'chunk')}")


class ChunkNumberError(McpLuceneError):
    """A document has fewer chunks than the requested number."""


def show(
    document: Annotated[
        str, typer.Argument(metavar="ID", help="Id of a document, or the path of its file.")
    ],
    chunk: Annotated[
        int | None,
        typer.Option(
            min=1, max=MAX_COUNT, metavar="N", help="Print only the chunk with this number."
        ),
    ] = None,
    details: Annotated[
        bool, typer.Option("--details", help="Print the document's details instead of its text.")
    ] = False,
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    as_json: Json = False,
) -> None:
    """Print the stored chunks of a document, or its details.

    Examples: idx show lease --chunk 2, idx show ~/Documents/lease.pdf --details
    """
    if details and chunk:
        raise typer.BadParameter("give --chunk or --details, not both")
    from idx.output.results import cited
    from shared.reading.searcher import Searcher

    with Searcher(index_path) as searcher:
        document_id = named_document(searcher, document)
        if details:
            _print_details(searcher.document_details(document_id), as_json=as_json)
            return
        answer = searcher.document_chunks(
            document_id, start_index=chunk or 1, count=1 if chunk else None
        )
    if chunk and not answer.chunks:
        chunks = answer.total_chunks
        raise ChunkNumberError(
            f"there is no chunk {chunk} of {document_id[:200]!r}, which has "
            f"{quantity(chunks, 'chunk')}: give --chunk a number from 1 to {chunks}"
        )
    if as_json:
        print_json(answer)
        return
    for piece in answer.chunks:
        tell(f"# {prose_for_stdout(piece.title)}  [{piece.id}]")
        if place := cited(piece):
            tell(place)
        print(f"\n{prose_for_stdout(piece.content)}\n")


def _print_details(details: "DocumentDetails", *, as_json: bool) -> None:
    if as_json:
        print_json(details)
        return
    known = {
        "Document": details.source_document,
        "Title": details.title,
        "File": details.file_path,
        "Chunks": f"{details.chunk_count:,}",
        "Words": f"{details.words:,}",
        "Characters": None if details.characters is None else f"{details.characters:,}",
        **{
            key: ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            for key, value in details.metadata.items()
        },
    }
    print_table(
        ["", ""], [(name, text) for name, text in known.items() if text is not None], headings=False
    )
    print(f"\n{prose_for_stdout(details.preview)}")


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


def fields(index_path: IndexPath = DEFAULT_INDEX_PATH, as_json: Json = False) -> None:
    """List the fields for searches, filters, sort orders and facets.

    Example: idx fields --json
    """
    from shared.reading.searcher import Searcher

    with Searcher(index_path, collections=configured_collections()) as searcher:
        answer = searcher.fields()
    if as_json:
        print_json(answer)
        return
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
    uses = {
        "search": field.searchable,
        "filter": field.filterable,
        "sort": field.sortable,
        "facet": field.facet,
    }
    return ", ".join(use for use, possible in uses.items() if possible)


def terms(
    prefix: Annotated[
        str,
        typer.Argument(
            metavar="[PREFIX]",
            help="Prefix of the terms; without it, the most frequent terms are listed.",
        ),
    ] = "",
    field: Annotated[
        str,
        typer.Option(
            metavar="FIELD",
            autocompletion=completed_fields("terms"),
            help="Field from idx fields, such as content, title or author.",
        ),
    ] = "content",
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of terms.")] = 20,
    min_length: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="Without PREFIX: minimum length of a term, in characters."
        ),
    ] = 1,
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    as_json: Json = False,
) -> None:
    """List the words, or the values of a metadata field, that occur in the most chunks.

    With a prefix, list only terms that begin with it: to complete a word, or to see its spellings.

    Examples: idx terms contr, idx terms --min-length 6, idx terms --field author
    """
    if prefix and min_length > 1:
        raise typer.BadParameter("give PREFIX or --min-length, not both")
    from shared.reading.searcher import Searcher

    with Searcher(index_path) as searcher:
        answer = (
            searcher.suggest_terms(prefix, field=field, limit=limit)
            if prefix
            else searcher.top_terms(field=field, limit=limit, min_length=min_length)
        )
    if as_json:
        print_json(answer)
        return
    print_table(["Term", "Chunks"], ((found.term, f"{found.chunks:,}") for found in answer.terms))
    if answer.notice:
        warn(answer.notice)


def failures(
    secrets: Annotated[
        bool, typer.Option("--secrets", help="List only files skipped as secrets.")
    ] = False,
    unsupported: Annotated[
        bool, typer.Option("--unsupported", help="List only files of types that are not read.")
    ] = False,
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    plain: Plain = False,
    as_json: Json = False,
) -> None:
    """List the files that are missing, outdated or incomplete in the index, with the reasons.

    Files that are secrets by their names, or that seem to contain a secret, are skipped. Index such
    a file with idx sync --allow-secret PATH, or permanently with idx config set allow-secrets PATH.

    The next idx sync retries the files that have changed, or all of them with --retry.

    Example: idx failures --plain
    """
    check_one_form(as_json=as_json, plain=plain)
    from shared.model.index_results import FailureList
    from shared.reading.searcher import Searcher

    with Searcher(index_path) as searcher:
        answer = searcher.failures()
    if secrets or unsupported:
        kinds = {"secret": secrets, "unsupported": unsupported}
        listed = [failure for failure in answer.failures if kinds.get(failure.kind)]
        answer = FailureList(len(listed), listed)
    if as_json:
        print_json(answer)
        return
    if plain:
        for failure in answer.failures:
            tell(failure.file_path)
        return
    print_table(
        ["File", "Kind", "Reason", "Tried"],
        (
            (failure.file_path, failure.kind, failure.reason, failure.tried)
            for failure in answer.failures
        ),
    )
    tell(quantity(answer.total, "file"))
    if answer.total and secrets:
        say("To index one permanently: idx config set allow-secrets PATH...")
    elif answer.total and not unsupported:
        say("To retry them, if necessary with the named options: idx sync --retry")


def duplicates(
    min_similarity: Annotated[
        float,
        typer.Option(
            min=0.05,
            max=1,
            help="Least share of sequences of four words in common with the newest version; 1 for "
            "equal texts only.",
        ),
    ] = 0.8,
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    as_json: Json = False,
) -> None:
    """List documents that are versions of the same text, the newest of each first.

    The texts of all documents are compared, whatever their names, types and formats.

    Example: idx duplicates --min-similarity 0.9
    """
    from shared.maintenance.duplicates import duplicates as find

    found = find(index_path, min_similarity=min_similarity, progress=shown)
    if as_json:
        print_json(found)
        return
    rows = [
        (
            str(number),
            f"{version.similarity:.2f}" if place else "newest",
            (version.modified or "-")[:10],
            version.file_path or version.source_document,
        )
        for number, versions in enumerate(found.groups, start=1)
        for place, version in enumerate(versions)
    ]
    if rows:
        print_table(["text", "similarity", "modified", "document"], rows)
    documents = quantity(found.documents, "document")
    older = sum(len(versions) - 1 for versions in found.groups)
    say(
        f"{documents} compared; {quantity(len(found.groups), 'text')} in several versions, "
        f"{quantity(older, 'document')} beside the newest ones."
    )


_MAX_LISTED_IDS = 10  # documents of one file listed in a message


def named_document(searcher: "Searcher", name: str) -> str:
    """Return the id of the document with a name: an id, or the path of a file, existing or not."""
    try:
        return searcher.document_chunks(name, count=1).source_document
    except DocumentNotFoundError:
        paths = _paths(searcher, name)
        found = searcher.catalog.documents_of_files(paths, _MAX_LISTED_IDS)
        if not found:
            if name:
                _check_file(searcher, name, paths)
            raise
    if len(found) > 1:
        raise SourceFileError(
            name,
            f"several documents come from this file: name one of {', '.join(map(repr, found))}",
        )
    return found[0]


def _paths(searcher: "Searcher", name: str) -> list[str]:
    """Return the absolute paths that a name may mean: as spelled, and with links resolved."""
    path = os.path.abspath(os.path.expanduser(name))  # noqa: PTH100, PTH111 - resolves no links
    real = Path(os.path.realpath(path))
    paths = [Path(path).as_posix(), real.as_posix()]
    for folder in searcher.folders():
        # The folder may have been indexed under another path.
        real_folder = Path(os.path.realpath(folder.path))
        if real_folder in real.parents:
            paths.append(f"{folder.beginning}{real.relative_to(real_folder).as_posix()}")
    return list(dict.fromkeys(map(decodable, paths)))


def _check_file(searcher: "Searcher", name: str, paths: list[str]) -> None:
    """Raise a specific error if a name without a document is a file or a folder."""
    if os.path.isdir(paths[0]):  # noqa: PTH112 - the method of Path raises errors
        raise SourceFileError(name, "is a folder; name a file in it, see idx list")
    composed = {unicodedata.normalize("NFC", path) for path in paths}
    for failure in searcher.failures().failures:
        if unicodedata.normalize("NFC", failure.file_path) in composed:
            raise SourceFileError(name, f"is not in the index: {failure.reason}")
    if os.path.exists(paths[0]):  # noqa: PTH110 - the method of Path raises errors
        raise SourceFileError(name, "is not in the index; add it with idx add")
