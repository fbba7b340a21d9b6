"""Command `idx init`."""

from pathlib import Path
from typing import Annotated

import typer

from idx.cli.options import DEFAULT_INDEX_PATH, IndexPath, Json
from idx.output.printing import print_json, tell
from shared.settings.current import configuration_file


def init(
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    default: Annotated[
        bool,
        typer.Option("--default", help="Make it the default index of all commands and servers."),
    ] = False,
    shards: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1024,
            show_default="1",
            help="Number of shards of an index on a cluster, which cannot be changed afterwards.",
        ),
    ] = None,
    replicas: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=100,
            show_default="1 from the second node on",
            help="Number of copies of each shard of an index on a cluster, besides the first.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Create an empty index; an existing one stays unchanged.

    Commands that add documents also create the index if it does not exist.

    Example: idx init --index-path ~/my-index --default
    """
    from shared.files.cluster_path import is_cluster
    from shared.writing.index import create

    if (shards, replicas) != (None, None) and not is_cluster(index_path):
        raise typer.BadParameter(
            "--shards and --replicas are for an index on a cluster, opensearch://HOST:PORT/NAME"
        )
    created = create(index_path, shards=shards, replicas=replicas)
    file = _make_default(index_path) if default else None
    if as_json:
        answer = {"index_path": str(index_path), "created": created}
        print_json(answer | ({"default_in": str(file)} if file else {}))
        return
    if created:
        tell(f"Successfully initialized Lucene index at: {index_path}")
    else:
        tell(f"There is already an index at {index_path}; nothing was changed.")
    if file:
        tell(f"It is now the default index: index_path in {file}")


def _make_default(index_path: Path) -> Path:
    """Write the index path into the configuration file, and return the file."""
    from idx.configuration.values import set_setting, warn_of_variable

    file = configuration_file()
    set_setting(file, "index_path", [str(index_path)])
    warn_of_variable("index_path", file)
    return file
