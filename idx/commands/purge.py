"""Command `idx purge`."""

import typer

from idx.cli.options import DEFAULT_INDEX_PATH, IndexPath, Json, Wait, Yes
from idx.output.printing import print_json, say, tell
from shared.messages import quantity
from shared.settings.defaults import DEFAULT_WAIT


def purge(
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    yes: Yes = False,
    wait: Wait = DEFAULT_WAIT,
    as_json: Json = False,
) -> None:
    """Delete all documents from the index.

    The index forgets its folders and the states of files as well, so that idx sync adds everything
    again. The original files are not touched.

    Examples: idx purge --index-path ~/my-index; idx purge --yes
    """
    from dataclasses import asdict

    from idx.output.confirmation import confirm
    from shared.maintenance.upkeep import purge as remove_all
    from shared.reading.searcher import Searcher

    with Searcher(index_path) as searcher:
        figures = searcher.statistics()
    documents = quantity(figures.documents, "document")
    all_ = "" if figures.documents == 1 else "all "
    action = f"remove {all_}{documents} from the index at {figures.path}"
    if not confirm(action, yes=yes):
        say("Nothing was removed.")
        raise typer.Exit(1)
    done = remove_all(index_path, wait=wait)
    if as_json:
        print_json(asdict(done))
    else:
        removed = quantity(done.deleted_documents, "document")
        tell(f"Removed {removed} ({quantity(done.deleted_chunks, 'chunk')})")
