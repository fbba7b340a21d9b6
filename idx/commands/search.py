"""`idx search`."""

from typing import Annotated

import typer

from idx.options import DEFAULT_INDEX_PATH, IndexPath, Json
from idx.output import print_json, say
from shared.search_options import Operator, Syntax


def search(
    query: Annotated[
        str, typer.Argument(help="Words, or Lucene's query syntax; '' shows every chunk.")
    ],
    limit: Annotated[int, typer.Option(min=1, max=100, help="Hits to show.")] = 10,
    offset: Annotated[int, typer.Option(min=0, max=100_000, help="Hits to skip.")] = 0,
    filters: Annotated[
        list[str] | None,
        typer.Option(
            "--filter",
            metavar="CONDITION",
            help="FIELD=VALUE, FIELD!=VALUE, FIELD=A|B, FIELD^=PREFIX, FIELD>=LEAST, "
            "FIELD<=MOST or FIELD=*; may be repeated, all must hold.",
        ),
    ] = None,
    operator: Annotated[
        Operator, typer.Option(help="Whether one word is enough or all are needed.")
    ] = "or",
    syntax: Annotated[
        Syntax,
        typer.Option(
            help="auto: characters count as syntax where they can be meant so; plain: every "
            "character is text; lucene: the syntax to the letter."
        ),
    ] = "auto",
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    as_json: Json = False,
) -> None:
    """Search the index: ranked chunks, the passages that match with the words marked.

    Example: idx search 'notice period' --filter 'file_path^=/home/me/contracts'
    """
    from shared.filters import parse_filter
    from shared.searcher import Searcher

    conditions = [parse_filter(text) for text in filters or []]
    with Searcher(index_path) as searcher:
        answer = searcher.search(
            query,
            limit=limit,
            offset=offset,
            filters=conditions,
            operator=operator,
            syntax=syntax,
            content="full" if as_json else "passages",
        )
    if as_json:
        print_json(answer)
        return
    from idx.highlighting import print_hit

    for rank, hit in enumerate(answer.results, start=offset + 1):
        print_hit(rank, hit)
    shown = f"{offset + 1} to {offset + len(answer.results)}" if answer.results else "none"
    say(f"{answer.totalHits:,} chunks match; shown: {shown}.")
