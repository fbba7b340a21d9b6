"""Synchronization of an index with folders: from paths of a command to events of its run."""

import os
import time
from collections.abc import Collection, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from idx.extraction.pool import ExtractionPool, batches, scans_pool
from idx.sync.comparison import make_plan
from idx.sync.events import Created, Event, Finished, Kept, Problem
from idx.sync.ingestion import Ingestion, planned, skip_unchanged
from idx.sync.plan import IndexedDocuments, Plan, SyncOptions
from idx.sync.targets import other_missing_folders, part_of, relocated, resolve
from shared.backends import check_new, holds_index
from shared.files.access import Identity, identity, is_missing
from shared.files.originals import Originals
from shared.model.failures import Failure, load_failures
from shared.reading.searcher import Searcher
from shared.writing.index import Index


def synchronize(
    paths: Iterable[Path], options: SyncOptions, kept: Kept, changed: Collection[Path] | None = None
) -> Generator[Event, None, None]:
    """Synchronize the index with files and folders, or only what has `changed` in them."""
    started = time.monotonic()
    paths = [*paths]
    if is_new(options) and all(is_missing(path) for path in paths):
        plan, _ = _compared(paths, options, None)
        yield planned(plan)
        yield from (Problem(str(error)) for error in plan.errors)
        seconds = round(time.monotonic() - started, 3)
        yield Finished(failed=len(plan.errors), seconds=seconds)
        return
    with Index(
        options.index_path, wait=options.wait, program="batch", create=options.create
    ) as index:
        Originals.of(options.index_path).add(_in_roots(paths, options.roots))
        plan, failures = _compared(paths, options, changed)
        with _pool(plan, options) as pool, _scans(options) as scans:
            if index.created:
                if options.on_created:
                    options.on_created(index)
                index.commit()
                yield Created(str(index.path))
            skip_unchanged(plan, pool)
            run = Ingestion(plan, index, pool, scans, failures, kept, options, started)
            yield from run.run()


def _in_roots(paths: Iterable[Path], roots: frozenset[Identity] | None) -> Iterator[Path]:
    for path in map(Path, map(os.path.realpath, paths)):
        if roots is None or any(identity(folder) in roots for folder in (path, *path.parents)):
            yield path


def preview(paths: Iterable[Path], options: SyncOptions) -> Plan:
    """Return the plan that `synchronize` would execute, without creating anything."""
    plan, _ = _compared(paths, options, None)
    with _pool(plan, options) as pool:
        skip_unchanged(plan, pool)
    return plan


def _pool(plan: Plan, options: SyncOptions) -> ExtractionPool:
    # A worker more than there are batches would start only to be ended.
    workers = max(1, min(options.workers, sum(1 for _ in batches(plan.changes))))
    extraction = replace(options.extraction, own_files=options.own_files)
    return ExtractionPool(workers, options.limits, extraction)


def _scans(options: SyncOptions) -> AbstractContextManager[ExtractionPool | None]:
    if options.extraction.ocr is None:
        return nullcontext()
    extraction = replace(options.extraction, own_files=options.own_files)
    return scans_pool(options.workers, options.limits, extraction)


def _compared(
    paths: Iterable[Path], options: SyncOptions, changed: Collection[Path] | None
) -> tuple[Plan, dict[str, Failure]]:
    """Return the plan of a sync and the known failures."""
    failures = load_failures(options.index_path)
    with _documents(options) as documents:
        known = relocated(documents.folders, options.move)
        sources = resolve(paths, known, documents.has_prefix)
        if changed is not None:
            sources = part_of(sources, changed)
        plan = make_plan(sources, documents, failures, options)
        if changed is None and not options.reread:
            plan.missing += other_missing_folders(sources, documents.states)
    # These folders were indexed a second time at the new place of a moved folder.
    doubled = {folder.prefix for folder in documents.folders} - {folder.prefix for folder in known}
    plan.deletions += [name for name, state in documents.states.items() if state.folder in doubled]
    plan.forgotten += [name for name, failure in failures.items() if failure.folder in doubled]
    return plan, failures


def is_new(options: SyncOptions) -> bool:
    return options.create and not holds_index(options.index_path)


@contextmanager
def _documents(options: SyncOptions) -> Iterator[IndexedDocuments]:
    if is_new(options):
        check_new(options.index_path)
        yield IndexedDocuments(None)
    else:
        with Searcher(options.index_path) as searcher:
            yield IndexedDocuments(searcher)
