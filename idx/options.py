"""The options that commands have in common."""

from pathlib import Path
from typing import Annotated

import typer

from shared.settings import DEFAULT_INDEX_PATH, INDEX_PATH_VARIABLE

IndexPath = Annotated[
    Path,
    typer.Option(
        "--index-path",
        "-i",
        envvar=INDEX_PATH_VARIABLE,
        metavar="PATH",
        # Whether it can be read is part of what an index can be wrong with: exit code 1, not 2.
        readable=False,
        help="Folder of the index.",
    ),
]

Json = Annotated[
    bool, typer.Option("--json", help="Print the answer as JSON; messages stay on stderr.")
]

Wait = Annotated[
    float,
    typer.Option(
        "--wait",
        min=0,
        metavar="SECONDS",
        help="How long to wait for another writer of this index to end.",
    ),
]

__all__ = ["DEFAULT_INDEX_PATH", "IndexPath", "Json", "Wait"]
