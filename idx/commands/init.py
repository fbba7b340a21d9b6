"""`idx init`."""

from idx.options import DEFAULT_INDEX_PATH, IndexPath, Json
from idx.output import print_json, tell


def init(index_path: IndexPath = DEFAULT_INDEX_PATH, as_json: Json = False) -> None:
    """Create an empty index; one that exists stays as it is.

    The commands that add documents create the index, too, if there is none.

    Example: idx init --index-path ~/my-index
    """
    from shared.index import create

    created = create(index_path)
    if as_json:
        print_json({"index_path": str(index_path), "created": created})
    elif created:
        tell(f"Successfully initialized Lucene index at: {index_path}")
    else:
        tell(f"There is an index at {index_path} already; nothing was changed.")
