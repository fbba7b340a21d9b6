"""Folders and an index made equal: from the paths of a command to the events of its run."""

import time
from collections.abc import Collection, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from idx.crawl.selection import Selections
from idx.extraction.pool import ExtractionPool, Limits
from idx.extraction.types import ExtractionOptions
from idx.sync.comparison import make_plan
from idx.sync.events import Created, Event, Finished, Problem
from idx.sync.indexed_documents import IndexedDocuments, NoDocuments
from idx.sync.ingestion import Ingestion, leave_out_unchanged, planned
from idx.sync.interruption import Kept
from idx.sync.moved_folders import Move, missing_beside, relocated
from idx.sync.plan import Plan, Planning
from idx.sync.targets import part_of, resolve
from shared.files import index_folder
from shared.files.access import Identity, is_missing
from shared.files.own_files import own_files
from shared.model.failures import Failure, load_failures
from shared.reading.searcher import Searcher
from shared.settings.current import configuration_file
from shared.writing.index import Index


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """How folders are synchronized.

    Attributes:
        index_path: the index folder.
        selections: which files of the folders are wanted.
        extraction: how files are read.
        limits: what reading one file may take.
        workers: processes that read.
        wait: seconds to wait for another writer to end.
        reread: whether unchanged files are read again, and none is deleted.
        retry: whether unreadable files are tried again though they are unchanged.
        prune_missing: whether documents are deleted without proof that their files are gone.
        strict: whether the first failure ends the run.
        create: whether an index is created where there is none.
        moves: folders of the index that lie elsewhere now.
        roots: identities of folders in which everything must lie; None for no such limit.
        keep_out: identities of files of the server that started this run.
    """

    index_path: Path
    selections: Selections
    extraction: ExtractionOptions
    limits: Limits
    workers: int
    wait: float
    reread: bool = False
    retry: bool = False
    prune_missing: bool = False
    strict: bool = False
    create: bool = False
    moves: tuple[Move, ...] = ()
    roots: frozenset[Identity] | None = None
    keep_out: frozenset[Identity] = frozenset()

    @property
    def own_files(self) -> frozenset[Identity]:
        """Files that are never taken, as they are now: a file that is written anew is another."""
        return self.keep_out | own_files([configuration_file()])


def synchronize(
    paths: Iterable[Path],
    options: SyncOptions,
    kept: Kept,
    changed: Collection[Path] | None = None,
) -> Generator[Event, None, None]:
    """Make the index equal to files and folders, and tell what happens.

    Args:
        paths: files and folders; nothing outside of them changes in the index.
        options: how.
        kept: what is committed is counted in it.
        changed: the only files and folders in the paths that are looked at; None for all.

    Raises:
        IndexFolderError: the index cannot be used; the class says why.
    """
    started = time.monotonic()
    paths = [*paths]
    if is_new(options) and all(is_missing(path) for path in paths):
        yield from _problems(_compared(paths, options, None)[0], started)
        return
    with Index(
        options.index_path, wait=options.wait, program="batch", create=options.create
    ) as index:
        plan, failures = _compared(paths, options, changed)
        with _pool(plan, options) as pool:
            if index.created:
                index.commit()
                yield Created(str(index.path))
            leave_out_unchanged(plan, pool)
            run = Ingestion(
                plan, index, pool, failures, kept, started=started, strict=options.strict
            )
            yield from run.run()


def preview(paths: Iterable[Path], options: SyncOptions) -> Plan:
    """What `synchronize` would do.

    Nothing is created.

    Raises:
        IndexFolderError: the index cannot be used; the class says why.
    """
    plan, _ = _compared(paths, options, None)
    with _pool(plan, options) as pool:
        leave_out_unchanged(plan, pool)
    return plan


def _pool(plan: Plan, options: SyncOptions) -> ExtractionPool:
    workers = max(1, min(options.workers, len(plan.changes)))
    extraction = replace(options.extraction, own_files=options.own_files)
    return ExtractionPool(workers, options.limits, extraction)


def _compared(
    paths: Iterable[Path], options: SyncOptions, changed: Collection[Path] | None
) -> tuple[Plan, dict[str, Failure]]:
    """The plan of a synchronization, and the failures that are known."""
    failures = load_failures(options.index_path)
    planning = Planning(
        selections=options.selections,
        avoid=options.index_path,
        reread=options.reread,
        retry=options.retry,
        prune_missing=options.prune_missing,
        roots=options.roots,
        own_files=options.own_files,
    )
    with _documents(options) as documents:
        known = relocated(documents.folders, options.moves)
        sources = resolve(paths, known, documents.has_prefix)
        if changed is not None:
            sources = part_of(sources, changed)
        plan = make_plan(sources, documents, failures, planning)
        if changed is None and not options.reread:
            plan.missing += missing_beside(sources, documents.states)
    # Of a folder that was indexed once more at the place that an older one has moved to.
    doubled = {folder.prefix for folder in documents.folders} - {folder.prefix for folder in known}
    plan.deletions += [name for name, state in documents.states.items() if state.folder in doubled]
    plan.forgotten += [name for name, failure in failures.items() if failure.folder in doubled]
    return plan, failures


def is_new(options: SyncOptions) -> bool:
    """Whether a run is going to create the index."""
    return options.create and not index_folder.holds_index(options.index_path)


@contextmanager
def _documents(options: SyncOptions) -> Iterator[IndexedDocuments]:
    if is_new(options):
        index_folder.check(index_folder.absolute(options.index_path))
        yield NoDocuments()
    else:
        with Searcher(options.index_path) as searcher:
            yield IndexedDocuments(searcher)


def _problems(plan: Plan, started: float) -> Iterator[Event]:
    """The events of a run that has nothing to look at, and creates no index for that."""
    yield planned(plan)
    yield from (Problem(str(error)) for error in plan.errors)
    seconds = round(time.monotonic() - started, 3)
    yield Finished(failed=len(plan.errors), seconds=seconds)
