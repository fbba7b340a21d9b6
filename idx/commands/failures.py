"""Command `idx failures`."""

from typing import Annotated

import typer

from idx.cli.options import DEFAULT_INDEX_PATH, IndexPath, Json, Plain
from idx.output.printing import check_one_form, print_json, say, tell
from shared.messages import quantity

Secrets = Annotated[bool, typer.Option("--secrets", help="List only files skipped as secrets.")]
Unsupported = Annotated[
    bool, typer.Option("--unsupported", help="List only files of types that are not read.")
]


def failures(
    secrets: Secrets = False,
    unsupported: Unsupported = False,
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
    kinds = {"secret"} if secrets else set[str]()
    if unsupported:
        kinds.add("unsupported")
    if kinds:
        listed = [failure for failure in answer.failures if failure.kind in kinds]
        answer = FailureList(len(listed), listed)
    if as_json:
        print_json(answer)
        return
    if plain:
        for failure in answer.failures:
            tell(failure.file_path)
        return
    from idx.output.printing import print_table

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
