"""Carrying out a plan: files are read by a pool of processes, and written by this one."""

import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from idx.change import Change
from idx.events import (
    Committed,
    Deleted,
    Event,
    Finished,
    Indexed,
    NotIndexed,
    Planned,
    Problem,
)
from idx.extraction.outcome import ReadFile, Unreadable
from idx.extraction.pool import ExtractionPool
from idx.file_document import file_document
from idx.plan import Plan
from shared.document import Document
from shared.errors import InvalidDocumentError
from shared.failures import Failure, Kind, save_failures
from shared.index import Index
from shared.indexed_folder import decodable

SECONDS_BETWEEN_COMMITS: Final = 5.0
"""A long run can be searched while it goes on, and a broken one goes on from the last commit."""


class Ingestion:
    """One run of a plan on an index.

    Args:
        plan: what is to be done.
        index: the index, open for writing.
        pool: reads the files.
        failures: what is known of files that cannot be read, by document id; kept up to date.
        started: when the run began, by the monotonic clock.
        strict: whether the first failure ends the run.
    """

    def __init__(
        self,
        plan: Plan,
        index: Index,
        pool: ExtractionPool,
        failures: dict[str, Failure],
        *,
        started: float,
        strict: bool = False,
    ) -> None:
        self._plan = plan
        self._index = index
        self._pool = pool
        self._failures = failures
        self._strict = strict
        self._started = started
        self._counts: Counter[str] = Counter()
        # Whether every document in the writer is complete, so that it may be committed.
        self._is_complete = True

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
                yield from self._read()
            yield self._commit()
        except (KeyboardInterrupt, SystemExit, GeneratorExit):
            if self._is_complete:
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
            chunks=counts["chunks"],
            seconds=round(time.monotonic() - self._started, 3),
        )

    def _problems(self) -> Iterator[Event]:
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
        self._index.delete_documents(plan.deletions)
        for name in plan.deletions:
            self._failures.pop(name, None)
            self._counts["deleted"] += 1
            yield Deleted(name)

    def _read(self) -> Iterator[Event]:
        committed = time.monotonic()
        for change, result in self._pool.read(self._plan.changes):
            event = self._write(change, result)
            yield event
            if self._strict and isinstance(event, NotIndexed) and event.kind == "failed":
                return
            if time.monotonic() - committed > SECONDS_BETWEEN_COMMITS:
                yield self._commit()
                committed = time.monotonic()

    def _write(self, change: Change, result: ReadFile | Unreadable) -> Event:
        if isinstance(result, Unreadable):
            return self._note(change, result.kind, result.reason)
        try:
            chunks = self._add(file_document(change, result))
        except InvalidDocumentError as error:
            return self._note(change, "failed", str(error))
        if not chunks:
            return self._note(change, "empty", "has no text")
        self._failures.pop(change.source_document, None)
        action: Final = "added" if change.is_new else "updated"
        self._counts[action] += 1
        self._counts["chunks"] += chunks
        warnings = result.extracted.warnings
        return Indexed(action, change.source_document, chunks, change.size, warnings)

    def _add(self, document: Document) -> int:
        """Add a document whole, also when an interruption arrives meanwhile."""
        try:
            return self._index.add(document)
        except KeyboardInterrupt:
            self._is_complete = False
            self._index.add(document)
            self._is_complete = True
            raise

    def _note(self, change: Change, kind: Kind, reason: str) -> NotIndexed:
        self._counts[kind] += 1
        self._failures[change.source_document] = Failure(
            folder=change.folder,
            path=decodable(change.relative),
            kind=kind,
            reason=reason,
            size=change.size,
            modified_ns=change.modified_ns,
            tried=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        path = decodable(str(change.path))
        return NotIndexed(change.source_document, path, kind, reason, change.size)

    def _commit(self) -> Committed:
        self._index.commit()
        # Afterwards: a file that is known not to be readable is not looked at again, so what it
        # meant for the index must be done. A failure that was not noted is found again.
        save_failures(self._index.path, self._failures)
        return Committed()


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
