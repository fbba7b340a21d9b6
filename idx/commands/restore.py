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
        typer.Argument(metavar="SRC", readable=False, help="Folder created by idx backup."),
    ],
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    yes: Yes = False,
    wait: Wait = DEFAULT_WAIT,
    as_json: Json = False,
) -> None:
    """Replace the index with a backup, or create it from one.

    The backup is checked first, and then replaces the index in one step, so the disk needs room for
    both. Running servers continue. If an index exists, the command asks for confirmation.

    Examples: idx restore /mnt/disk/my-index-backup; idx restore backup --yes
    """
    from dataclasses import asdict

    from idx.output.printing import confirm
    from idx.output.progress import shown
    from shared.maintenance.restore import restore as put_back

    if any(index_path.glob("segments_*")) or any(index_path.glob("_*.si")):
        action = f"replace the index at {index_path.absolute()} with the backup {source.absolute()}"
        if not confirm(action, yes=yes):
            say("Nothing was restored.")
            raise typer.Exit(1)
    done = put_back(index_path, source, wait=wait, progress=shown)
    if as_json:
        print_json(asdict(done))
    else:
        documents = quantity(done.documents, "document")
        tell(f"Restored {documents} ({quantity(done.chunks, 'chunk')}) from {done.source}")
