"""Commands `idx sync` and `idx watch`."""

import os
import sys
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from idx.cli.options import (
    DEFAULT_INDEX_PATH,
    PATH,
    IndexPath,
    ReadingOptions,
    Vectors,
    Wait,
    takes,
)
from idx.models import embed_added, embedding_beside
from idx.output.printing import print_json, say, tell, warn
from idx.output.runs import (
    SAME_COMMAND,
    Problems,
    plan_line,
    print_answer,
    print_event,
    print_news,
    report,
    reported_interruption,
)
from idx.sync.events import Finished, Kept
from shared.settings.defaults import DEFAULT_WAIT, INDEX_PATH_VARIABLE

if TYPE_CHECKING:
    from idx.service import Service
    from idx.sync.plan import SyncOptions

Folders = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[PATH]...", click_type=PATH, help="Folders; by default those of idx folders list."
    ),
]

Events = Annotated[bool, typer.Option("--json", help="Print each event as a line of JSON.")]


@takes(ReadingOptions, "reading")
def sync(
    context: typer.Context,
    reading: ReadingOptions,
    paths: Folders = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be done, and change nothing.")
    ] = False,
    prune_missing: Annotated[
        bool,
        typer.Option(
            "--prune-missing",
            help="Also delete the documents of missing, empty or unreadable folders, whose files "
            "may still exist.",
        ),
    ] = False,
    retry: Annotated[
        bool, typer.Option("--retry", help="Retry unreadable files even if they have not changed.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict/--keep-going", help="Stop at the first unreadable file.")
    ] = False,
    moved_from: Annotated[
        Path | None,
        typer.Option(
            metavar="OLD",
            click_type=PATH,
            help="Previous path of the folder, if it was renamed or moved: it keeps its documents "
            "and their ids.",
        ),
    ] = None,
    only_in: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DEVICE:INODE",
            hidden=True,
            help="Index only files in the folder with this identity, without following links; "
            "repeatable. Used by mcp-lucene --admin for its roots.",
        ),
    ] = None,
    keep_out: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DEVICE:INODE",
            hidden=True,
            help="Never index the file with this identity; repeatable. Used by mcp-lucene --admin "
            "for its own files.",
        ),
    ] = None,
    vectors: Vectors = "now",
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    wait: Wait = DEFAULT_WAIT,
    as_json: Events = False,
) -> None:
    """Synchronize the index with folders: add new files, update changed ones, delete removed ones.

    Files whose size and modification time have not changed are not opened. A document is deleted
    only if its folder was listed completely and its file was not found, or is now excluded. A run
    can be interrupted at any time; the next one continues.

    A folder that was renamed or moved keeps its documents with --moved-from.

    Examples: idx sync ~/Documents; idx sync ~/Documents --dry-run
    """
    from idx.cli.run_options import requested_move, sync_options, wanted_folders
    from idx.sync.synchronize import synchronize

    folders = wanted_folders(paths)
    move = requested_move(folders, index_path, moved_from, dry_run=dry_run)
    options = replace(
        sync_options(
            context, reading, index_path=index_path, wait=wait, vectors=vectors, move=move
        ),
        prune_missing=prune_missing,
        retry=retry,
        strict=strict,
        roots=_identities("--only-in", only_in) if only_in else None,
        keep_out=_identities("--keep-out", keep_out or []),
    )
    if dry_run:
        if not show_plan(folders, options, as_json=as_json):
            raise typer.Exit(1)
        return
    kept = Kept()
    with reported_interruption(kept, SAME_COMMAND):
        end = report(synchronize(folders, options, kept), print_event if as_json else print_answer)
    embed_added(index_path, wait, vectors)
    if end is None or end.failed:
        raise typer.Exit(1)


def _identities(option: str, texts: list[str]) -> frozenset[tuple[int, int]]:
    try:
        pairs = [text.split(":") for text in texts]
        return frozenset((int(device), int(inode)) for device, inode in pairs)
    except ValueError as error:
        raise typer.BadParameter(f"give {option} as DEVICE:INODE, two numbers") from error


def show_plan(paths: Iterable[Path], options: "SyncOptions", *, as_json: bool) -> bool:
    """Print what a sync would do, and return whether it could see every folder."""
    from idx.sync.ingestion import planned
    from idx.sync.synchronize import preview

    plan = preview(paths, options)
    actions = {
        "add": [change.source_document for change in plan.changes if change.is_new],
        "update": [change.source_document for change in plan.changes if not change.is_new],
        "delete": plan.deletions,
    }
    for missing in plan.missing:
        warn(missing.message)
    for error in plan.errors:
        say(f"Error: {error}")
    if as_json:
        numbers = {"skip": plan.skipped, "failed_before": plan.failed_before}
        print_json({**actions, **numbers, "errors": [*map(str, plan.errors)]})
    else:
        for action, names in actions.items():
            for name in names:
                tell(f"{action.upper():6} {name}")
        tell(plan_line(planned(plan)))
    return not plan.errors


@takes(ReadingOptions, "reading")
def watch(
    context: typer.Context,
    reading: ReadingOptions,
    paths: Folders = None,
    install: Annotated[
        bool,
        typer.Option("--install", help="Start the same watch now and at each login, in silence."),
    ] = False,
    uninstall: Annotated[
        bool, typer.Option("--uninstall", help="End that watch of the index for good.")
    ] = False,
    vectors: Vectors = "now",
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    wait: Wait = DEFAULT_WAIT,
    as_json: Events = False,
) -> None:
    """Keep the index synchronized with folders: run idx sync, then follow every change.

    The index is locked only while changes are written to it. Ctrl-C or SIGTERM ends the watch;
    completed work stays in the index. With --install it is a service of the system: a user unit of
    systemd, an agent of launchd or a task of Windows.

    Examples: idx watch ~/Documents; idx watch ~/Documents --install
    """
    from idx.cli.run_options import sync_options, wanted_folders
    from idx.service import Service

    service = Service(index_path)
    if uninstall:
        if not service.uninstall():
            say(f"No watch of {index_path} is installed.")
            raise typer.Exit(1)
        say(f"Removed {service.file}; what it has indexed stays.")
        return
    from idx.sync.watch import keep_synchronized

    options = sync_options(context, reading, index_path=index_path, wait=wait, vectors=vectors)
    show = print_event if as_json else print_news
    folders = [path.absolute() for path in wanted_folders(paths)]
    if install:
        _install(service)
        return
    kept, problems = Kept(), Problems()
    # Closing commits the completed work even if printing fails.
    with (
        reported_interruption(kept, SAME_COMMAND),
        embedding_beside(index_path, wait, vectors) as embed,
        closing(keep_synchronized(folders, options, kept)) as events,
    ):
        for event in events:
            show(event)
            for line in problems.lines(event):
                say(line)
            if isinstance(event, Finished):
                service.note_sync()
                embed()


def _install(service: "Service") -> None:
    """Install a watch with the arguments of this command."""
    from idx.service import variables_of

    arguments = [argument for argument in sys.argv[1:] if argument != "--install"]
    if any(argument.partition("=")[0] == "--pdf-password" for argument in arguments):
        raise typer.BadParameter(
            "--pdf-password would be readable in a file of the system; put it into the "
            "configuration file: idx config set pdf-password"
        )
    variables, secrets = variables_of(os.environ)
    variables |= {INDEX_PATH_VARIABLE: str(service.index_path)}
    if secrets:
        warn(
            f"{', '.join(secrets)} would be readable in a file, and is not passed on; add it to "
            f"{service.file} if the watch needs it"
        )
    service.install(arguments, variables)
    say(
        f"{service.file} starts this watch now and at each login; idx doctor says whether it runs, "
        "idx watch --uninstall ends it."
    )
