"""Command `idx optimize`."""

from idx.cli.options import DEFAULT_INDEX_PATH, IndexPath, Json, Wait
from idx.output.printing import print_json, tell
from shared.messages import quantity
from shared.settings.defaults import DEFAULT_WAIT


def optimize(
    index_path: IndexPath = DEFAULT_INDEX_PATH, wait: Wait = DEFAULT_WAIT, as_json: Json = False
) -> None:
    """Merge the index into one segment, and free the space of deleted chunks.

    Worthwhile for an index that is searched often and rarely changes. The old segments are kept
    until the new one is complete, so the disk needs room for both: up to twice the size.

    Example: idx optimize
    """
    from dataclasses import asdict

    from idx.output.progress import shown
    from shared.maintenance.upkeep import optimize as merge_all

    done = merge_all(index_path, wait=wait, progress=shown)
    if as_json:
        print_json(asdict(done))
    elif done.segments_before <= 1 and not done.deleted_chunks:
        tell("The index is already optimized; nothing was written.")
    else:
        tell(
            f"Merged {quantity(done.segments_before, 'segment')} into {done.segments_after:,} and "
            f"removed {quantity(done.deleted_chunks, 'deleted chunk')}: "
            f"{done.bytes_before / 1e6:,.2f} MB before, {done.bytes_after / 1e6:,.2f} MB now"
        )
