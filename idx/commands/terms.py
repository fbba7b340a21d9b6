"""Command `idx terms`."""

from typing import Annotated

import typer

from idx.cli.completions import fields
from idx.cli.options import DEFAULT_INDEX_PATH, IndexPath, Json
from idx.output.printing import print_json, warn


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
            autocompletion=fields("terms"),
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
    from idx.output.printing import print_table

    print_table(["Term", "Chunks"], ((found.term, f"{found.chunks:,}") for found in answer.terms))
    if answer.notice:
        warn(answer.notice)
