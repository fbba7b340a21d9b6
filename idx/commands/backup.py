"""Command `idx backup`."""

from pathlib import Path
from typing import Annotated

import typer

from idx.cli.options import DEFAULT_INDEX_PATH, IndexPath, Json
from idx.output.printing import print_json, tell
from shared.messages import quantity


def backup(
    destination: Annotated[
        Path,
        typer.Argument(
            metavar="DEST",
            readable=False,
            help="Destination folder: new, empty, or an older backup of the index, which is "
            "replaced.",
        ),
    ],
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    as_json: Json = False,
) -> None:
    """Copy the last commit of the index, without blocking readers and writers.

    Every file is compared with its checksum. An older backup is kept until the new one is complete.
    A backup is itself an index, which idx search can read.

    Example: idx backup /mnt/disk/my-index-backup
    """
    from dataclasses import asdict

    from idx.output.progress import shown
    from shared.maintenance.backup import backup as copy

    done = copy(index_path, destination, progress=shown)
    if as_json:
        print_json(asdict(done))
    else:
        tell(
            f"Backed up {quantity(done.documents, 'document')} ({quantity(done.chunks, 'chunk')}, "
            f"{done.size_bytes / 1e6:,.2f} MB) to {done.path}"
        )
