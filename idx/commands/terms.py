"""Command `idx terms`."""

from typing import Annotated

import typer

from idx.cli.completions import fields
from idx.cli.options import DEFAULT_INDEX_PATH, IndexPath, Json
from idx.output.printing import print_json, warn


def terms(
    prefix: Annotated[
        str, typer.Argument(metavar="[PREFIX]", help="How the terms begin; else the most frequent.")
    ] = "",
    field: Annotated[
        str,
        typer.Option(
            metavar="FIELD",
            autocompletion=fields("terms"),
            help="A field of idx fields: content, title, author and so on.",
        ),
    ] = "content",
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Terms to show.")] = 20,
    min_length: Annotated[
        int, typer.Option(min=1, metavar="N", help="Without PREFIX: only terms of N characters up.")
    ] = 1,
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    as_json: Json = False,
) -> None:
    """List the words, or the values of a metadata key, that most chunks have.

    With a prefix those that begin so: to complete a word, or to see how documents spell it.

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
    from idx.output.tables import print_table

    print_table(["Term", "Chunks"], ((found.term, f"{found.chunks:,}") for found in answer.terms))
    if answer.notice:
        warn(answer.notice)
