"""Command `idx watch`."""

from pathlib import Path
from typing import Annotated

import typer

from idx.cli.options import DEFAULT_INDEX_PATH, IndexPath, ReadingOptions, Vectors, Wait, takes
from idx.commands.sync import Events
from idx.embedding import embed_added
from shared.settings.defaults import DEFAULT_WAIT


@takes(ReadingOptions, "reading")
def watch(
    context: typer.Context,
    reading: ReadingOptions,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[PATH]...",
            readable=False,
            help="Folders; by default those of idx folders list.",
        ),
    ] = None,
    vectors: Vectors = "now",
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    wait: Wait = DEFAULT_WAIT,
    as_json: Events = False,
) -> None:
    """Keep the index synchronized with folders: run idx sync, then follow every change.

    The index is locked only while changes are written to it. Ctrl-C or SIGTERM ends the watch;
    completed work stays in the index.

    Example: idx watch ~/Documents
    """
    from contextlib import closing

    from idx.cli.run_options import sync_options, wanted_folders
    from idx.output.printing import say
    from idx.output.runs import (
        SAME_COMMAND,
        Problems,
        print_event,
        print_news,
        reported_interruption,
    )
    from idx.sync.events import Finished
    from idx.sync.interruption import Kept
    from idx.sync.watching.watch import keep_synchronized

    options = sync_options(context, reading, index_path=index_path, wait=wait)
    show = print_event if as_json else print_news
    folders = [path.absolute() for path in wanted_folders(paths)]
    kept, problems = Kept(), Problems()
    # Closing commits the completed work even if printing fails.
    with (
        reported_interruption(kept, SAME_COMMAND),
        closing(keep_synchronized(folders, options, kept)) as events,
    ):
        for event in events:
            show(event)
            for line in problems.lines(event):
                say(line)
            if isinstance(event, Finished):
                embed_added(index_path, wait, vectors)
