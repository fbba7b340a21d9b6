"""`idx failures`."""

from idx.options import DEFAULT_INDEX_PATH, IndexPath, Json, Plain
from idx.output import check_one_form, print_json, say, tell
from shared.messages import quantity


def failures(
    index_path: IndexPath = DEFAULT_INDEX_PATH, plain: Plain = False, as_json: Json = False
) -> None:
    """List the files that are not in the index, or only in an older version or in part, and why.

    The next idx sync tries those again that have changed, and all of them with --retry.

    Example: idx failures --plain
    """
    check_one_form(as_json=as_json, plain=plain)
    from shared.searcher import Searcher

    with Searcher(index_path) as searcher:
        answer = searcher.failures()
    if as_json:
        print_json(answer)
        return
    if plain:
        for failure in answer.failures:
            tell(failure.file_path)
        return
    from idx.tables import Unbroken, print_table

    print_table(
        ["File", "Kind", "Reason", "Tried"],
        (
            (Unbroken(failure.file_path), failure.kind, failure.reason, failure.tried)
            for failure in answer.failures
        ),
    )
    tell(quantity(answer.total, "file"))
    if answer.total:
        say("To try them again, perhaps with the options named: idx sync --retry")
