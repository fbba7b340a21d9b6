"""Command `idx rebuild`."""

from idx.cli.options import DEFAULT_INDEX_PATH, IndexPath, Json, Wait
from idx.output.printing import print_json, say, tell
from shared.messages import quantity
from shared.settings.defaults import DEFAULT_WAIT


def rebuild(
    index_path: IndexPath = DEFAULT_INDEX_PATH, wait: Wait = DEFAULT_WAIT, as_json: Json = False
) -> None:
    """Rebuild the index from its stored text, without the original files.

    Use it for an index created by an older version. The old index is kept until the new one is
    complete and replaces it in one step, so the disk needs room for both.

    Example: idx rebuild --index-path ~/my-index
    """
    from dataclasses import asdict
    from functools import partial

    from idx.output.progress import counted
    from shared.maintenance.rebuild import rebuild as build_anew

    done = build_anew(index_path, wait=wait, progress=partial(counted, name="documents"))
    if done.previous_schema_version == done.schema_version:
        say(f"The index already had schema version {done.schema_version}; it was rebuilt anyway.")
    if as_json:
        print_json(asdict(done))
    else:
        tell(
            f"Rebuilt {quantity(done.documents, 'document')} as {quantity(done.chunks, 'chunk')} "
            f"(schema version {done.schema_version})"
        )
