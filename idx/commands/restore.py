"""Command `idx restore`."""

from pathlib import Path
from typing import Annotated

import typer

from idx.cli.options import DEFAULT_INDEX_PATH, IndexPath, Json, Wait, Yes
from idx.output.printing import print_json, say, tell
from shared.messages import quantity
from shared.settings.defaults import DEFAULT_WAIT


def restore(
    source: Annotated[
        Path,
        typer.Argument(metavar="SRC", readable=False, help="Folder that idx backup has made."),
    ],
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    yes: Yes = False,
    wait: Wait = DEFAULT_WAIT,
    as_json: Json = False,
) -> None:
    """Put a backup in the place of the index, or where none is.

    The backup is checked first. The index stays as it is until the backup takes its place, all at
    once, so there must be room on the disk for both; servers go on. It asks if an index is there.

    Examples: idx restore /mnt/disk/my-index-backup; idx restore backup --yes
    """
    from dataclasses import asdict

    from idx.output.confirmation import confirm
    from idx.output.progress import shown
    from shared.maintenance.restore import restore as put_back

    if any(index_path.glob("segments_*")) or any(index_path.glob("_*.si")):
        action = f"replace the index at {index_path.absolute()} by the backup {source.absolute()}"
        if not confirm(action, yes=yes):
            say("Nothing was restored.")
            raise typer.Exit(1)
    done = put_back(index_path, source, wait=wait, progress=shown)
    if as_json:
        print_json(asdict(done))
    else:
        documents = quantity(done.documents, "document")
        tell(f"Restored {documents} ({quantity(done.chunks, 'chunk')}) from {done.source}")
