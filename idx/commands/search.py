"""Commands `idx search` and `idx similar`."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from idx.cli.configured_command import fields
from idx.cli.options import (
    DEFAULT_INDEX_PATH,
    CollectionName,
    Filters,
    IndexPath,
    Json,
    Plain,
    RewritingOptions,
    Search,
    days,
    takes,
)
from idx.models import rewriting_of
from idx.output.printing import check_one_form, print_json, say, tell
from shared.messages import quantity
from shared.model.request import (
    BY_SCORE,
    Detail,
    Group,
    Operator,
    SearchRequest,
    Syntax,
    Versions,
    group_for,
    versions_for,
)

if TYPE_CHECKING:
    from shared.model.search_results import SearchAnswer


@takes(RewritingOptions, "normalizer")
def search(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="WORD...",
            help="Words, or Lucene's query syntax; '' matches all chunks. Put -- before words "
            "that begin with a minus.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="Maximum number of hits.")] = 10,
    offset: Annotated[int, typer.Option(min=0, max=100_000, help="Number of hits to skip.")] = 0,
    filters: Filters = None,
    collection: CollectionName = None,
    operator: Annotated[
        Operator, typer.Option(help="Match any word (or), or only all words (and).")
    ] = "or",
    syntax: Annotated[
        Syntax,
        typer.Option(
            help="auto: characters are syntax only where that makes sense; plain: all characters "
            "are text; lucene: strictly Lucene's syntax."
        ),
    ] = "auto",
    sort: Annotated[
        str,
        typer.Option(
            metavar="FIELD",
            autocompletion=fields("sort"),
            help="Sort by score, source_document, chunk_index or a metadata field; -FIELD puts "
            "the greatest first.",
        ),
    ] = BY_SCORE,
    facets: Annotated[
        list[str] | None,
        typer.Option(
            "--facet",
            metavar="FIELD",
            autocompletion=fields("facet"),
            help="Count the values of a metadata field among all matches; repeatable.",
        ),
    ] = None,
    min_confidence: Annotated[
        float, typer.Option(min=0, max=1, help="Omit hits with a lower confidence.")
    ] = 0.0,
    by: Search = "both",
    group: Annotated[
        Group | None,
        typer.Option(
            show_default="document, but none with --json or --plain",
            help="document: show each document once, with its three best chunks, and count "
            "documents; none: show single chunks.",
        ),
    ] = None,
    recency: Annotated[
        float | None,
        typer.Option(
            metavar="AGE",
            parser=days,
            show_default=False,
            help="Prefer new documents: the age at which a score is halved, such as 180d, 26w or "
            "2y.",
        ),
    ] = None,
    versions: Annotated[
        Versions | None,
        typer.Option(
            show_default="newest with documents, all with chunks",
            help="Versions of the same text: show the newest that matches, and how many others; "
            "or show all.",
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Explain the query instead of printing chunks.")
    ] = False,
    detail: Annotated[
        Detail | None,
        typer.Option(
            show_default="steps",
            help="With --explain, each including the previous ones: the parsed query; the steps "
            "that rewrote it; the terms, with the number of chunks that have each; the parts "
            "of the best scores.",
        ),
    ] = None,
    *,
    normalizer: RewritingOptions,
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    plain: Plain = False,
    as_json: Json = False,
) -> None:
    """Search the index, and print the best chunks with the matching words highlighted.

    Examples: idx search vacation days, idx search '"notice period"', idx search -- -garage rent,
    idx search notice --filter 'file_path^=/home/me/contracts' --facet language
    """
    if not words:
        raise typer.BadParameter(
            "give words to search for, such as: idx search vacation days", param_hint="'WORD...'"
        )
    query = " ".join(words)
    from shared.model.filters import configured_collections, in_collection, parse_filter
    from shared.model.search_results import QueryExplanation
    from shared.reading.searcher import Searcher

    check_one_form(as_json=as_json, plain=plain)
    about_hits = sort != BY_SCORE or facets or min_confidence or group or versions
    _check_options(detail, explain=explain, about_hits=about_hits)
    if plain and (explain or facets):
        raise typer.BadParameter("--plain prints only paths: it takes no --explain or --facet")
    conditions = [*map(parse_filter, filters or ()), *in_collection(collection)]
    rewriting = rewriting_of(query, syntax, normalizer)
    shown = group or (group_for("auto", "full", sort) if as_json or plain else "document")
    request = SearchRequest(
        query,
        limit=limit,
        offset=offset,
        filters=conditions,
        operator=operator,
        syntax=syntax,
        content="full" if as_json else "both",
        sort=sort,
        facets=facets or [],
        min_confidence=min_confidence,
        rewritten=rewriting.rewritten,
        search=by,
        recency=recency,
        group=shown,
        versions=versions_for(versions or "auto", shown, conditions),
    )
    with Searcher(index_path, collections=configured_collections()) as searcher:
        answer = (
            searcher.explain(request, detail=detail or "steps")
            if explain
            else searcher.search(request)
        )
    if as_json:
        print_json(replace(answer, diagnostics=rewriting.diagnostics))
        return
    from idx.output.results import print_explanation

    if isinstance(answer, QueryExplanation):
        print_explanation(answer)
        return
    _print_results(answer, offset, plain=plain)
    _print_notes(answer, offset)


def _check_options(detail: Detail | None, *, explain: bool, about_hits: object) -> None:
    if explain and about_hits:
        raise typer.BadParameter(
            "--explain lists no hits: it takes no --sort, --facet, --min-confidence, --group or "
            "--versions"
        )
    if detail and not explain:
        raise typer.BadParameter("--detail needs --explain")


def _print_results(answer: "SearchAnswer", offset: int, *, plain: bool) -> None:
    from idx.output.results import address, print_facet, print_hit

    if plain:
        # Overlapping chunks and chunks of the same page share a place.
        for place in dict.fromkeys(map(address, answer.results)):
            tell(place)
        return
    for rank, hit in enumerate(answer.results, start=offset + 1):
        print_hit(rank, hit)
    for facet in answer.facets:
        print_facet(facet, "chunks" if answer.total_documents is None else "documents")


def _print_notes(answer: "SearchAnswer", offset: int) -> None:
    if answer.note:
        say(answer.note)
    shown = f"{offset + 1} to {offset + len(answer.results)}" if answer.results else "none"
    if answer.rewritten:
        say(f"Also searched for: {answer.rewritten}")
    if answer.suggestion:
        words = "Searched for" if answer.suggestion_applied else "Did you mean"
        say(f"{words}: {answer.suggestion}")
    if answer.low_confidence and answer.results:
        say("None of these is likely to answer the question.")
    chunks, match = quantity(answer.totalHits, "chunk"), "match"
    if answer.totalHits == 1:
        match = "matches"
    elif answer.total_documents and answer.total_documents != answer.totalHits:
        chunks = f"{chunks} of {quantity(answer.total_documents, 'document')}"
    others = sum(hit.similar_documents.count for hit in answer.results if hit.similar_documents)
    similar = f", for {quantity(others, 'similar document')}, too" if others else ""
    say(f"{chunks} {match}; shown: {shown}{similar}.")


def similar(
    chunk_id: Annotated[
        str, typer.Argument(metavar="ID", help="Id of a chunk, or of a document for its first one.")
    ],
    limit: Annotated[int, typer.Option(min=1, max=100, help="Maximum number of chunks.")] = 10,
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    as_json: Json = False,
) -> None:
    """Print the chunks that are most like another one.

    They are compared by meaning if search by meaning is on, else by their most telling words. A
    similarity above 0.9 by meaning is that of a near-duplicate.

    Example: idx similar lease.pdf-chunk-002
    """
    from shared.errors import ChunkNotFoundError
    from shared.model.document import chunk_id as id_of
    from shared.reading.searcher import Searcher

    with Searcher(index_path) as searcher:
        try:
            found = searcher.similar_chunks(chunk_id, limit=limit)
        except ChunkNotFoundError as error:
            try:
                found = searcher.similar_chunks(id_of(chunk_id, 1), limit=limit)
            except ChunkNotFoundError:
                raise error from None
    if as_json:
        print_json(found)
        return
    from idx.output.results import print_similar

    for rank, chunk in enumerate(found.results, start=1):
        print_similar(rank, chunk)
    say(f"Compared by {found.compared_by} with {found.chunk_id}.")
