"""Carrying out a plan: files are read by a pool of processes, and written by this one."""

import time
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace
from itertools import chain
from typing import Final

from idx.errors import SourceFileError
from idx.extraction.pool import ExtractionPool
from idx.extraction.types import ReadFile, Unreadable
from idx.sync.documents import file_document
from idx.sync.events import (
    Committed,
    Deleted,
    Event,
    Finished,
    Indexed,
    LeftOut,
    NotIndexed,
    Planned,
    Problem,
)
from idx.sync.interruption import Kept, uninterrupted
from idx.sync.plan import Change, Plan
from shared.errors import InvalidDocumentError
from shared.messages import decodable, utc_time
from shared.model.failures import Failure, Kind, save_failures
from shared.writing.index import Index

SECONDS_BETWEEN_COMMITS: Final = 5.0
"""A long run can be searched while it goes on, and a broken one goes on from the last commit."""


class Ingestion:
    """One run of a plan on an index.

    Args:
        plan: what is to be done.
        index: the index, open for writing.
        pool: reads the files.
        failures: what is known of files that cannot be read, by document id; kept up to date.
        kept: what the commits of the run are counted in.
        started: when the run began, by the monotonic clock.
        strict: whether the first failure ends the run.
    """

    def __init__(
        self,
        plan: Plan,
        index: Index,
        pool: ExtractionPool,
        failures: dict[str, Failure],
        kept: Kept,
        *,
        started: float,
        strict: bool = False,
    ) -> None:
        self._plan = plan
        self._index = index
        self._pool = pool
        self._failures = failures
        self._kept = kept
        self._strict = strict
        self._started = started
        self._counts: Counter[str] = Counter()
        # Ids, not numbers: what is interrupted and done again counts once.
        self._uncommitted: set[str] = set()
        self._uncommitted_deletions: set[str] = set()
        self._pending: deque[tuple[Change, ReadFile, Future[int]]] = deque()

    def run(self) -> Iterator[Event]:
        """Do everything; when interrupted, commit what is done.

        Yields:
            What happens, from `Planned` to `Finished`.

        Raises:
            IndexWriteError: the file system refused to write; the last commit stays.
        """
        plan = self._plan
        yield planned(plan)
        try:
            yield from self._problems()
            if not (self._strict and plan.errors):
                yield from self._delete()
                yield from self._leave_out()
                yield from self._read()
            yield from self._written(wait=True)
            yield self._commit()
        except (KeyboardInterrupt, SystemExit):
            # Committed before it is told: whoever listens may be interrupted once more.
            told = [*self._written(wait=True), self._commit()]
            yield from told
            raise
        except GeneratorExit:
            self._commit()
            raise
        counts = self._counts
        yield Finished(
            added=counts["added"],
            updated=counts["updated"],
            deleted=counts["deleted"],
            skipped=plan.skipped + plan.failed_before,
            failed=counts["failed"],
            unsupported=counts["unsupported"],
            empty=counts["empty"],
            secrets=counts["secret"],
            chunks=counts["chunks"],
            seconds=round(time.monotonic() - self._started, 3),
        )

    def _problems(self) -> Iterator[Event]:
        yield from self._plan.missing
        for error in self._plan.errors:
            self._counts["failed"] += 1
            yield Problem(str(error))

    def _delete(self) -> Iterator[Event]:
        plan = self._plan
        if plan.folders != self._index.folders:
            self._index.folders = plan.folders
        for name in plan.forgotten:
            self._failures.pop(name, None)
        for name, state in plan.unchanged.items():
            self._index.update_file_state(name, state)
        try:
            self._index.delete_documents(plan.deletions)
        finally:
            # An interruption during the call is raised after it.
            self._uncommitted_deletions.update(plan.deletions)
        for name in plan.deletions:
            self._failures.pop(name, None)
            self._counts["deleted"] += 1
            yield Deleted(name)

    def _leave_out(self) -> Iterator[Event]:
        for change, reason in self._plan.secrets:
            note = self._note(change, "secret", reason)
            yield LeftOut(note.source_document, note.file_path, note.reason)

    def _read(self) -> Iterator[Event]:
        committed = time.monotonic()
        for change, result in self._pool.read(self._plan.changes):
            for event in chain(self._submit(change, result), self._written()):
                yield event
                if self._strict and isinstance(event, NotIndexed) and event.kind == "failed":
                    return
            if time.monotonic() - committed > SECONDS_BETWEEN_COMMITS:
                yield from self._written(wait=True)
                yield self._commit()
                committed = time.monotonic()

    def _submit(self, change: Change, result: ReadFile | Unreadable) -> Iterator[Event]:
        """Have what was read of a file written, or tell why there is nothing to write."""
        if isinstance(result, Unreadable):
            note = self._note(change, result.kind, result.reason)
            if result.kind == "secret" and not change.is_new:
                yield from self._without_document(change, note)
            else:
                yield note
            return
        try:
            document = file_document(change, result)
        except InvalidDocumentError as error:
            yield self._note(change, "failed", str(error))
        else:
            with uninterrupted():
                # What is on its way to Lucene will be committed, so it must be noted.
                self._pending.append((change, result, self._index.submit(document)))

    def _without_document(self, change: Change, note: NotIndexed) -> Iterator[Event]:
        """Delete what an earlier version of a file left in the index, which may be the secret."""
        name = change.source_document
        try:
            self._index.delete_documents([name])
        finally:
            self._uncommitted_deletions.add(name)
        self._counts["deleted"] += 1
        yield note
        yield Deleted(name)

    def _written(self, *, wait: bool = False) -> Iterator[Event]:
        """What became of the files that are written by now; of all, with `wait`."""
        while self._pending and (wait or self._pending[0][-1].done()):
            change, result, chunks = self._pending[0]
            events = self._outcome(change, result, chunks)
            self._pending.popleft()
            yield from events

    def _outcome(self, change: Change, result: ReadFile, written: Future[int]) -> list[Event]:
        try:
            chunks = written.result()
        except InvalidDocumentError as error:
            return [self._note(change, "failed", str(error))]
        if not chunks:
            empty = self._note(change, "empty", "has no text")
            if change.is_new:
                return [empty]
            self._counts["deleted"] += 1
            self._uncommitted_deletions.add(change.source_document)
            return [empty, Deleted(change.source_document)]
        warnings = result.extracted.warnings
        if warnings:
            self._failures[change.source_document] = _failure(
                change, "partial", "; ".join(warnings)
            )
        else:
            self._failures.pop(change.source_document, None)
        action: Final = "added" if change.is_new else "updated"
        self._counts[action] += 1
        self._uncommitted.add(change.source_document)
        self._counts["chunks"] += chunks
        return [
            Indexed(
                action,
                change.source_document,
                _shown(change),
                chunks,
                change.size,
                warnings,
            )
        ]

    def _note(self, change: Change, kind: Kind, reason: str) -> NotIndexed:
        self._counts[kind] += 1
        self._failures[change.source_document] = _failure(change, kind, reason)
        return NotIndexed(
            change.source_document, _shown(change), kind, reason, change.size, change.is_named
        )

    def _commit(self) -> Committed:
        # What is still to be told is to be noted, also if nobody listens any more.
        for _ in self._written(wait=True):
            pass
        self._index.commit()
        self._count_committed()
        # Afterwards: a file that is known not to be readable is not looked at again, so what it
        # meant for the index must be done. A failure that was not noted is found again.
        save_failures(self._index.path, self._failures)
        return Committed()

    def _count_committed(self) -> None:
        # Each number is counted by one assignment, which no interruption cuts in two.
        kept = self._kept
        kept.documents, self._uncommitted = kept.documents + len(self._uncommitted), set()
        kept.deleted, self._uncommitted_deletions = (
            kept.deleted + len(self._uncommitted_deletions),
            set(),
        )


def _failure(change: Change, kind: Kind, reason: str) -> Failure:
    return Failure(
        folder=change.folder,
        path=decodable(change.relative),
        kind=kind,
        reason=reason,
        size=change.size,
        modified_ns=change.modified_ns,
        tried=utc_time(),
    )


def _shown(change: Change) -> str:
    """A file as events name it."""
    return decodable(str(change.path))


def planned(plan: Plan) -> Planned:
    """A plan in numbers."""
    new = sum(change.is_new for change in plan.changes)
    return Planned(
        add=new,
        update=len(plan.changes) - new,
        delete=len(plan.deletions),
        skip=plan.skipped,
        failed_before=plan.failed_before,
        bytes=sum(change.size for change in plan.changes),
    )


def leave_out_unchanged(plan: Plan, pool: ExtractionPool) -> None:
    """Take the files with the bytes that they had out of the changes of a plan.

    Args:
        plan: what is to be done.
        pool: hashes the files, each within its limits.

    Raises:
        ReadersDiedError: the processes of the pool end as soon as they start.
    """
    touched = [change for change in plan.changes if change.source_document in plan.touched]
    settled = set()
    for change, hashed in pool.hashes(touched):
        name = change.source_document
        state = plan.touched[name]
        if isinstance(hashed, Unreadable):
            plan.errors.append(SourceFileError(change.path, hashed.reason))
        elif hashed == state.content_hash:
            plan.skipped += 1
            plan.unchanged[name] = replace(
                state, modified_ns=change.modified_ns, other_volume=change.other_volume
            )
        else:
            continue
        settled.add(name)
    plan.changes = [change for change in plan.changes if change.source_document not in settled]
