"""`idx failures`."""

from idx.options import DEFAULT_INDEX_PATH, IndexPath, Json
from idx.output import print_json, say, tell


def failures(index_path: IndexPath = DEFAULT_INDEX_PATH, as_json: Json = False) -> None:
    """List the files that are not in the index, or only in an older version, and why.

    The next idx sync tries those again that have changed, and all of them with --retry.

    Example: idx failures
    """
    from shared.searcher import Searcher

    with Searcher(index_path) as searcher:
        answer = searcher.failures()
    if as_json:
        print_json(answer)
        return
    from idx.tables import print_table

    print_table(
        ["File", "Kind", "Reason", "Tried"],
        (
            (failure.file_path, failure.kind, failure.reason, failure.tried)
            for failure in answer.failures
        ),
    )
    tell(f"{answer.total:,} files")
    if answer.total:
        say("To try them again, perhaps with the options named: idx sync --retry")
