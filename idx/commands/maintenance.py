"""Commands on a whole index, from `idx init` to `idx unlock`."""

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from idx.cli.options import DEFAULT_INDEX_PATH, PATH, IndexPath, Json, Wait, Yes
from idx.models import give_model
from idx.output.printing import confirm, counted, print_done, print_json, say, shown, tell
from shared.messages import quantity
from shared.settings.current import configuration_file
from shared.settings.defaults import DEFAULT_WAIT


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
    from shared.files.index_folder import is_cluster
    from shared.writing.index import Index, create

    if (shards, replicas) != (None, None) and not is_cluster(index_path):
        raise typer.BadParameter(
            "--shards and --replicas are for an index on a cluster, opensearch://HOST:PORT/NAME"
        )
    created = create(index_path, shards=shards, replicas=replicas)
    if created:
        with Index(index_path, program="command") as index:
            give_model(index)
    file = configuration_file() if default else None
    if file:
        from idx.configuration import set_setting, warn_of_variable

        set_setting(file, "index_path", [str(index_path)])
        warn_of_variable("index_path", file)
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


def check(
    index_path: IndexPath = DEFAULT_INDEX_PATH, wait: Wait = DEFAULT_WAIT, as_json: Json = False
) -> None:
    """Check the index for damage: its files, segments and documents.

    Every file is read and compared with its checksum. Each problem is reported on one line with its
    remedy, and the exit code is then 1. Writers wait until the check ends.

    Example: idx check --index-path ~/my-index
    """
    from idx.errors import message
    from shared.maintenance.check import check as examine

    found = examine(index_path, wait=wait, progress=shown)
    problems = found.lines(message)
    if as_json:
        print_json(
            {
                "sound": found.sound,
                "documents": found.documents,
                "chunks": found.chunks,
                "segments": [asdict(segment) for segment in found.segments],
                "problems": problems,
            }
        )
    elif found.sound:
        tell(
            f"The index is sound: {quantity(found.documents, 'document')}, "
            f"{quantity(found.chunks, 'chunk')}, {quantity(len(found.segments), 'segment')}"
        )
    else:
        for problem in problems:
            tell(problem)
        say(f"Error: the index is not sound; {quantity(found.problem_count, 'problem')}")
    if not found.sound:
        raise typer.Exit(1)


def backup(
    destination: Annotated[
        Path,
        typer.Argument(
            metavar="DEST",
            click_type=PATH,
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
    from shared.maintenance.backup import backup as copy

    done = copy(index_path, destination, progress=shown)
    print_done(
        done,
        f"Backed up {quantity(done.documents, 'document')} ({quantity(done.chunks, 'chunk')}, "
        f"{done.size_bytes / 1e6:,.2f} MB) to {done.path}",
        as_json=as_json,
    )


def restore(
    source: Annotated[
        Path, typer.Argument(metavar="SRC", click_type=PATH, help="Folder created by idx backup.")
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
    from shared.maintenance.restore import restore as put_back

    if any(index_path.glob("segments_*")) or any(index_path.glob("_*.si")):
        action = f"replace the index at {index_path.absolute()} with the backup {source.absolute()}"
        if not confirm(action, yes=yes):
            say("Nothing was restored.")
            raise typer.Exit(1)
    done = put_back(index_path, source, wait=wait, progress=shown)
    restored = f"{quantity(done.documents, 'document')} ({quantity(done.chunks, 'chunk')})"
    print_done(done, f"Restored {restored} from {done.source}", as_json=as_json)


def repair(
    index_path: IndexPath = DEFAULT_INDEX_PATH, wait: Wait = DEFAULT_WAIT, as_json: Json = False
) -> None:
    """Save the readable part of a damaged index that has no backup.

    Unreadable segments and incomplete documents are dropped, and each is reported. The damaged
    index is kept in a folder beside the repaired one. An intact index stays unchanged.

    Example: idx repair --index-path ~/my-index
    """
    from shared.maintenance.repair import repair as save

    done = save(index_path, wait=wait, progress=shown)
    lost = sum(segment.chunks for segment in done.lost_segments)
    if as_json:
        documents = [
            {"id": document.id, "chunks": document.chunks, "problems": document.problems}
            for document in done.removed_documents
        ]
        print_json({**asdict(done), "removed_documents": documents})
        return
    if done.kept_at is None:
        tell("The index is sound; nothing was done.")
        return
    for segment in done.lost_segments:
        tell(f"Lost: segment {segment.name} with {quantity(segment.chunks, 'chunk')}")
    for document in done.removed_documents:
        tell(
            f"Removed: document {document.id[:200]!r} with {quantity(document.chunks, 'chunk')}: "
            f"{' and '.join(document.problems)}"
        )
    if done.removed_chunks:
        tell(f"Removed: {quantity(done.removed_chunks, 'chunk')} without the id of a document")
    tell(
        f"Saved {quantity(done.documents, 'document')} ({quantity(done.chunks, 'chunk')}); the "
        f"damaged index is kept at {done.kept_at}"
    )
    say(
        "To restore what is missing: idx sync adds files again; what came by idx add --id or "
        f"idx bulk has to be added again{'' if lost else ', if it is among the above'}."
    )


def rebuild(
    index_path: IndexPath = DEFAULT_INDEX_PATH, wait: Wait = DEFAULT_WAIT, as_json: Json = False
) -> None:
    """Rebuild the index from its stored text, without the original files.

    Use it for an index created by an older version. The old index is kept until the new one is
    complete and replaces it in one step, so the disk needs room for both.

    Example: idx rebuild --index-path ~/my-index
    """
    from shared.maintenance.rebuild import rebuild as build_anew

    done = build_anew(index_path, wait=wait, progress=partial(counted, name="documents"))
    if done.previous_schema_version == done.schema_version:
        say(f"The index already had schema version {done.schema_version}; it was rebuilt anyway.")
    print_done(
        done,
        f"Rebuilt {quantity(done.documents, 'document')} as {quantity(done.chunks, 'chunk')} "
        f"(schema version {done.schema_version})",
        as_json=as_json,
    )


def optimize(
    index_path: IndexPath = DEFAULT_INDEX_PATH, wait: Wait = DEFAULT_WAIT, as_json: Json = False
) -> None:
    """Merge the index into one segment, and free the space of deleted chunks.

    Worthwhile for an index that is searched often and rarely changes. The old segments are kept
    until the new one is complete, so the disk needs room for both: up to twice the size.

    Example: idx optimize
    """
    from shared.maintenance.upkeep import optimize as merge_all

    done = merge_all(index_path, wait=wait, progress=shown)
    merged = (
        f"Merged {quantity(done.segments_before, 'segment')} into {done.segments_after:,} and "
        f"removed {quantity(done.deleted_chunks, 'deleted chunk')}: "
        f"{done.bytes_before / 1e6:,.2f} MB before, {done.bytes_after / 1e6:,.2f} MB now"
    )
    if done.segments_before <= 1 and not done.deleted_chunks:
        merged = "The index is already optimized; nothing was written."
    print_done(done, merged, as_json=as_json)


def purge(
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    yes: Yes = False,
    wait: Wait = DEFAULT_WAIT,
    as_json: Json = False,
) -> None:
    """Delete all documents from the index.

    The index forgets its folders and the states of files as well, so that idx sync adds everything
    again. The original files are not touched.

    Examples: idx purge --index-path ~/my-index; idx purge --yes
    """
    from shared.maintenance.upkeep import purge as remove_all
    from shared.reading.searcher import Searcher

    with Searcher(index_path) as searcher:
        figures = searcher.statistics()
    documents = quantity(figures.documents, "document")
    all_ = "" if figures.documents == 1 else "all "
    action = f"remove {all_}{documents} from the index at {figures.path}"
    if not confirm(action, yes=yes):
        say("Nothing was removed.")
        raise typer.Exit(1)
    done = remove_all(index_path, wait=wait)
    removed = quantity(done.deleted_documents, "document")
    chunks = quantity(done.deleted_chunks, "chunk")
    print_done(done, f"Removed {removed} ({chunks})", as_json=as_json)


def unlock(index_path: IndexPath = DEFAULT_INDEX_PATH, as_json: Json = False) -> None:
    """Remove a leftover lock file from the index, if no process holds the lock.

    Rarely needed, because a lock ends with its process, even after a crash. If a process holds the
    lock, it is named and keeps the lock, and the exit code is 1.

    Example: idx unlock
    """
    from shared.maintenance.upkeep import unlock as remove_lock

    unlocked = remove_lock(index_path)
    print_done(
        {"unlocked": unlocked},
        "Removed the lock file; no process held it."
        if unlocked
        else "The index is not locked; there was nothing to remove.",
        as_json=as_json,
    )
