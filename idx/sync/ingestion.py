"""Execution of a plan: worker processes read the files, and this process writes them."""

import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from idx.errors import SourceFileError
from idx.extraction.pool import ExtractionPool
from idx.extraction.types import ReadFile, Unreadable
from idx.sync import events
from idx.sync.events import Event, Kept, uninterrupted
from idx.sync.plan import Change, Plan, SyncOptions, file_document
from shared.errors import InvalidDocumentError
from shared.messages import decodable, utc_time
from shared.model.document import MEMBER_MARK
from shared.model.failures import ERRORS, Failure, Kind, save_failures
from shared.model.metadata import note_on_others
from shared.writing.index import Index

SECONDS_BETWEEN_COMMITS: Final = 5.0
"""Interval between commits, in seconds.

Commits make a long run searchable while it continues; after a crash, the next run continues from
the last commit.
"""


_Read = tuple[Change, ReadFile | Unreadable]  # a file that was read, or why it could not be


@dataclass
class Ingestion:
    """Execution of one plan on an index; `scans` reads pictures of text after all other files."""

    plan: Plan
    index: Index
    pool: ExtractionPool
    scans: ExtractionPool | None
    failures: dict[str, Failure]
    kept: Kept
    options: SyncOptions
    started: float

    def __post_init__(self) -> None:
        # By document id; each is read once more, so that its problems are told only then.
        self._for_ocr: dict[str, Change] = {}
        self._scanned_pages = 0
        self._counted: dict[str, int] = {}
        self._saved_failures = {**self.failures}
        self._counts: Counter[str] = Counter()
        # Sets of ids instead of counters, so that an interrupted and repeated operation counts
        # once.
        self._uncommitted: set[str] = set()
        self._uncommitted_deletions: set[str] = set()
        self._pending: deque[tuple[Change, ReadFile, Future[int]]] = deque()
        self._committed = self.started
        self._is_stopped = False
        self._changed = {change.source_document for change in self.plan.changes}
        self._failed_members: defaultdict[str, list[str]] = defaultdict(list)
        for name, failure in self.failures.items():
            if failure.container is not None:
                self._failed_members[failure.container].append(name)

    def run(self) -> Iterator[Event]:
        """Execute the plan; if interrupted, commit the work done so far."""
        plan = self.plan
        yield planned(plan)
        try:
            yield from self._problems()
            if not (self.options.strict and plan.errors):
                yield from self._delete()
                yield from self._skip_secrets()
                yield from self._read()
            yield from self._written(wait=True)
            yield self._commit()
        except (KeyboardInterrupt, SystemExit):
            # Commit before yielding, because the consumer may be interrupted again.
            told = [*self._written(wait=True), self._commit()]
            yield from told
            raise
        except GeneratorExit:
            self._commit()
            raise
        counts = self._counts
        yield events.Finished(
            added=counts["added"],
            updated=counts["updated"],
            deleted=counts["deleted"],
            skipped=plan.skipped + plan.failed_before,
            failed=sum(counts[kind] for kind in ERRORS),
            unsupported=counts["unsupported"],
            empty=counts["empty"],
            secrets=counts["secret"],
            chunks=counts["chunks"],
            seconds=round(time.monotonic() - self.started, 3),
        )

    def _problems(self) -> Iterator[Event]:
        yield from self.plan.missing
        for error in self.plan.errors:
            self._counts["failed"] += 1
            yield events.Problem(str(error))

    def _delete(self) -> Iterator[Event]:
        plan = self.plan
        if plan.folders != self.index.folders:
            self.index.folders = plan.folders
        for name, state in plan.unchanged.items():
            self.index.update_file_state(name, state)
            for member in plan.members.get(name, ()):
                self.index.update_file_state(member, replace(state, container=name))
        deletions = [
            name for file in plan.deletions for name in (file, *sorted(plan.members.get(file, ())))
        ]
        for name in (*plan.forgotten, *deletions):
            self.failures.pop(name, None)
        yield from self._delete_documents(deletions)

    def _skip_secrets(self) -> Iterator[Event]:
        for change, reason in self.plan.secrets:
            note = self._note(change, "secret", reason)
            yield events.LeftOut(note.source_document, note.file_path, note.reason)

    def _read(self) -> Iterator[Event]:
        yield from self._submit_all(self._without_scans(self.pool.read(self.plan.changes)))
        if self._for_ocr and self.scans and not self._is_stopped:
            yield from self._written(wait=True)
            # What else there is can be searched meanwhile.
            yield self._commit()
            yield from self._read_scans(self.scans)

    def _read_scans(self, scans: ExtractionPool) -> Iterator[Event]:
        due = [*self._for_ocr.values()]
        self._for_ocr.clear()
        total = self._scanned_pages
        yield events.Recognized(0, total)
        for pages, done in scans.read_scans(due):
            # Files may have got more pages since they were counted.
            yield events.Recognized(min(pages, total), total)
            if done:
                yield from self._submit_all([done])
            if self._is_stopped:
                return

    def _without_scans(self, files: Iterable[_Read]) -> Iterator[_Read]:
        """Pass on the files that were read, and note which OCR shall read once more."""
        for change, result in files:
            if self.scans and result.scanned_pages:
                self._for_ocr[change.source_document] = change
                self._scanned_pages += result.scanned_pages
                if isinstance(result, Unreadable):
                    continue
            yield change, result

    def _submit_all(self, files: Iterable[_Read]) -> Iterator[Event]:
        for change, result in files:
            for event in chain(self._submit(change, result), self._written()):
                yield event
                if (
                    self.options.strict
                    and isinstance(event, events.NotIndexed)
                    and event.kind in ERRORS
                ):
                    self._is_stopped = True
                    return
            if time.monotonic() - self._committed > SECONDS_BETWEEN_COMMITS:
                yield from self._written(wait=True)
                yield self._commit()

    def _submit(self, change: Change, result: ReadFile | Unreadable) -> Iterator[Event]:
        """Submit the content of a file for writing, or yield the reason it cannot be indexed."""
        if isinstance(result, Unreadable):
            yield self._note(change, result.kind, result.reason)
            if result.kind == "secret" and not change.is_new:
                # The document of an earlier version may contain the secret.
                name = change.source_document
                within = sorted(self.plan.members.get(name, ()))
                yield from self._delete_documents([name, *within])
            return
        # Before the file itself, whose state says that all of it was read.
        yield from self._submit_members(change, result)
        yield from self._write(change, result)

    def _write(
        self, change: Change, file: ReadFile, member: ReadFile | None = None
    ) -> Iterator[Event]:
        """Submit the document of a file, or of a member of it, or yield the reason against it."""
        result = member or file
        try:
            document = file_document(
                change,
                file,
                self.options.layout,
                member,
                is_whole=change.source_document not in self._for_ocr,
            )
        except InvalidDocumentError as error:
            yield self._note(change, "failed", str(error))
            return
        document, too_many = self.index.within_limits(document)
        if too_many:
            warnings = (*result.extracted.warnings, note_on_others(too_many))
            result = replace(result, extracted=replace(result.extracted, warnings=warnings))
        with uninterrupted():
            # Whatever is submitted to Lucene will be committed, so it must be recorded.
            self._pending.append((change, result, self.index.submit(document)))

    def _submit_members(self, change: Change, file: ReadFile) -> Iterator[Event]:
        """Submit the documents of what is within a file, and delete those of what no longer is."""
        container = change.source_document
        before = self.plan.members.get(container, set())
        for name in self._failed_members.pop(container, ()):
            self.failures.pop(name, None)
        kept = set()
        for member in file.members:
            name = f"{container}{MEMBER_MARK}{member.path}"
            own = replace(
                change, source_document=name, size=0, is_new=name not in before, container=container
            )
            result = member.result
            if isinstance(result, Unreadable) and container in self._for_ocr:
                kept.add(name)
                continue
            if isinstance(result, Unreadable):
                yield self._note(own, result.kind, result.reason)
                if result.kind == "secret":
                    continue
                # It may have been read before, with what is within it.
                kept |= {each for each in before if each.startswith(f"{name}{MEMBER_MARK}")}
            elif name in self.plan.files or name in self._changed:
                yield self._note(own, "failed", "has the same id as another file")
            else:
                yield from self._write(own, file, result)
            kept.add(name)
        if not file.has_more_members:
            yield from self._delete_documents(sorted(before - kept))

    def _delete_documents(self, names: list[str]) -> Iterator[Event]:
        try:
            self.index.delete_documents(names)
        finally:
            # An interruption during the call is raised after it.
            self._uncommitted_deletions.update(names)
        self._counts["deleted"] += len(names)
        yield from map(events.Deleted, names)

    def _written(self, *, wait: bool = False) -> Iterator[Event]:
        """Yield the outcomes of the files written so far; with `wait`, of all submitted files."""
        while self._pending and (wait or self._pending[0][-1].done()):
            change, result, chunks = self._pending[0]
            outcome = self._outcome(change, result, chunks)
            self._pending.popleft()
            yield from outcome

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
            return [empty, events.Deleted(change.source_document)]
        warnings = tuple(_about(change, warning) for warning in result.extracted.warnings)
        if warnings:
            self.failures[change.source_document] = _failure(change, "partial", "; ".join(warnings))
        else:
            self.failures.pop(change.source_document, None)
        action: Final = "added" if change.is_new else "updated"
        # A file is written once more when OCR has read its pictures.
        if change.source_document not in self._counted:
            self._counts[action] += 1
        self._counts["chunks"] += chunks - self._counted.get(change.source_document, 0)
        self._counted[change.source_document] = chunks
        self._uncommitted.add(change.source_document)
        is_read_again = {change.source_document, change.container} & self._for_ocr.keys()
        return [
            events.Indexed(
                action,
                change.source_document,
                _shown(change),
                chunks,
                change.size,
                () if is_read_again else warnings,
                change.container,
            )
        ]

    def _note(self, change: Change, kind: Kind, reason: str) -> events.NotIndexed:
        reason = _about(change, reason)
        self._counts[kind] += 1
        self.failures[change.source_document] = _failure(change, kind, reason)
        return events.NotIndexed(
            change.source_document,
            _shown(change),
            kind,
            reason,
            change.size,
            change.is_named,
            change.container,
        )

    def _commit(self) -> events.Committed:
        # Pending events must be recorded even if the consumer no longer iterates.
        for _ in self._written(wait=True):
            pass
        with uninterrupted():
            # On a cluster, an interrupted commit may have succeeded or not.
            self.index.commit()
            self._committed = time.monotonic()
            kept = self.kept
            kept.documents += len(self._uncommitted)
            kept.deleted += len(self._uncommitted_deletions)
            self._uncommitted, self._uncommitted_deletions = set(), set()
        # Only after the commit: a file recorded as unreadable is not examined again, so its effects
        # on the index must be durable. A failure that was not recorded is found again.
        save_failures(self.index.path, self.failures, self._saved_failures)
        self._saved_failures = {**self.failures}
        return events.Committed()


def _about(change: Change, message: str) -> str:
    """Return a message after the name of the file within another one that it is about, if any."""
    if change.container is None:
        return message
    within = change.source_document.removeprefix(f"{change.container}{MEMBER_MARK}")
    return f"{within}: {message}"


def _failure(change: Change, kind: Kind, reason: str) -> Failure:
    return Failure(
        folder=change.folder,
        path=decodable(change.relative),
        kind=kind,
        reason=reason,
        size=change.size,
        modified_ns=change.modified_ns,
        tried=utc_time(),
        container=change.container,
    )


def _shown(change: Change) -> str:
    return decodable(str(change.path))


def planned(plan: Plan) -> events.Planned:
    new = sum(change.is_new for change in plan.changes)
    return events.Planned(
        add=new,
        update=len(plan.changes) - new,
        delete=len(plan.deletions),
        skip=plan.skipped,
        failed_before=plan.failed_before,
        bytes=sum(change.size for change in plan.changes),
    )


def skip_unchanged(plan: Plan, pool: ExtractionPool) -> None:
    """Remove the files whose content is unchanged from the changes of a plan."""
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
