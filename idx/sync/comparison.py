"""Comparison of folders with the index, which yields the plan of a sync.

A file counts as unchanged if its size and modification time are unchanged. If only the time
differs, its content decides (see `idx.sync.ingestion`). A document is deleted only on proof: its
folder was listed completely and the file was not in it.
"""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from idx.crawl.walk import Crawl, FoundFile, Scopes
from idx.errors import SourceFileError
from idx.sync.plan import Change, IndexedDocuments, Plan, SyncOptions, single_file
from idx.sync.targets import Source, Sources, document_id, hint, path_of
from shared.files.access import Identity, is_missing
from shared.files.location import Location
from shared.files.secret_files import is_allowed_secret
from shared.messages import decodable, quantity
from shared.model.failures import Failure
from shared.model.folders import IndexedFolder, IndexedFolders


def make_plan(
    sources: Sources,
    documents: IndexedDocuments,
    failures: Mapping[str, Failure],
    options: SyncOptions,
) -> Plan:
    """Compare folders with an index and plan the changes."""
    plan = Plan(sources.folders, documents.members, documents.states, errors=list(sources.errors))
    for source in sources.sources:
        _Comparison(source, plan, options, documents, failures).run()
    # Not earlier, because an id depends on the other folders of the index.
    given_up = {
        source.folder
        for source in sources.sources
        if source.scopes is None and _is_pruned(source.folder, options)
    }
    plan.folders = IndexedFolders(
        tuple(folder for folder in plan.folders if folder not in given_up)
    )
    _add_single_files(plan, sources.files, documents, options.roots)
    plan.forgotten += [
        name
        for name, failure in failures.items()
        if failure.folder is None and is_missing(failure.path)
    ]
    gone = {*plan.deletions, *plan.forgotten}
    plan.forgotten += [name for name, failure in failures.items() if failure.container in gone]
    return plan


def crawl_of(source: Source, options: SyncOptions, without: frozenset[str] = frozenset()) -> Crawl:
    folder = source.folder.path
    return Crawl(
        folder,
        options.selections.selection_for(folder),
        source.scopes,
        without=without,
        own=options.selections.within(folder),
        avoid=options.index_path,
        roots=options.roots,
        own_files=options.own_files,
    )


@dataclass
class _Comparison:
    """Comparison of one folder, or a part of it, with its documents."""

    source: Source
    plan: Plan
    options: SyncOptions
    documents: IndexedDocuments
    failures: Mapping[str, Failure]

    def __post_init__(self) -> None:
        source, failures = self.source, self.failures
        self._folder: IndexedFolder = source.folder
        self._parts = None if source.scopes is None else Scopes(map(decodable, source.scopes))
        self._rest = {
            name: state
            for name, state in self.documents.states.items()
            if state.folder == self._folder.prefix and self._is_in_scope(name)
        }
        self._failed = {
            name
            for name, failure in failures.items()
            if failure.folder == self._folder.prefix
            and failure.container is None
            and self._is_in_scope(name)
        }
        self._incomplete = {failure.container for failure in failures.values()}
        self._with_secrets = {
            failure.container for failure in failures.values() if failure.kind == "secret"
        }
        self._crawl = crawl_of(source, self.options, self._without())

        # Two names may share an id: bytes that are not UTF-8 are escaped with backslashes, which
        # other names may contain.
        self._spelled: dict[str, str] = {}
        self._named = set(source.named)

    def run(self) -> None:
        for found in self._crawl:
            is_named = found.path in self._named
            self._named.discard(found.path)
            self._compare(found, is_named=is_named)
        for found, reason in self._crawl.secrets:
            self._note_secret(found, reason)
        self._report_skipped()
        if not _is_pruned(self._folder, self.options):
            self.plan.errors += self._crawl.errors
        if not self.options.reread:
            self._delete()

    def _compare(self, found: FoundFile, *, is_named: bool) -> None:
        name = document_id(self._folder, found.path, self.plan.folders)
        if "\\" in name and self._spelled.setdefault(name, found.path) != found.path:
            self._error(found.path, f"has the same id as another file, {name!r}")
            return
        state = self._rest.pop(name, None)
        self._failed.discard(name)
        if state is None and (conflict := self.documents.conflict(name, self._path(found))):
            self._error(found.path, conflict)
            return
        plan, options = self.plan, self.options
        failure = self.failures.get(name)
        is_allowed = failure and failure.kind == "secret" and self._may_hold_secrets(found)
        if failure and (failure.kind == "partial" or is_allowed):
            # The readable part of the file is in the index as long as its document is.
            failure = None
        if not options.reread:
            is_retried = (options.retry and name in self._incomplete) or (
                name in self._with_secrets and self._may_hold_secrets(found)
            )
            is_same = state and (state.size, state.modified_ns) == (found.size, found.modified_ns)
            if state and is_same and not is_retried:
                plan.skipped += 1
                if state.other_volume != found.other_volume:
                    plan.unchanged[name] = replace(state, other_volume=found.other_volume)
                if failure:
                    plan.forgotten.append(name)
                return
            if failure and not options.retry and _concerns(failure, found):
                plan.failed_before += 1
                return
            if state and state.size == found.size and not is_retried:
                plan.touched[name] = state
        plan.changes.append(self._change(name, found, is_named=is_named))

    def _note_secret(self, found: FoundFile, reason: str) -> None:
        name = document_id(self._folder, found.path, self.plan.folders)
        self._failed.discard(name)
        failure = self.failures.get(name)
        if not (failure and failure.kind == "secret" and _concerns(failure, found)):
            self.plan.secrets.append((self._change(name, found, is_named=False), reason))

    def _may_hold_secrets(self, found: FoundFile) -> bool:
        allowed = self.options.selections.general.allow_secrets
        return is_allowed_secret(self._path(found), allowed)

    def _change(self, name: str, found: FoundFile, *, is_named: bool) -> Change:
        return Change(
            source_document=name,
            location=Location(self._path(found), found.folder, found.beneath),
            relative=found.path,
            folder=self._folder.prefix,
            size=found.size,
            modified_ns=found.modified_ns,
            other_volume=found.other_volume,
            is_new=name not in self.documents.states,
            is_named=is_named,
        )

    def _path(self, found: FoundFile) -> Path:
        return self._folder.path / found.path

    def _path_of(self, name: str) -> str:
        return path_of(name, self._folder)

    def _delete(self) -> None:
        """Delete the documents whose files were not found, where the listing proves it."""
        gone = [*self._rest]
        if self.options.prune_missing:
            self.plan.deletions += gone
            self.plan.forgotten += self._failed
            return
        is_empty = self._crawl.is_empty and bool(gone) and not self._crawl.errors
        if is_empty:
            self._error("", f"is empty, but {_counted(gone)} made of files in it")
            kept = set(gone)
        else:
            kept = {name for name in gone if self._is_unknown(self._path_of(name))}
            absent = [name for name in gone if name not in kept and self._is_on_absent_volume(name)]
            if absent:
                self._error(
                    self._path_of(absent[0]),
                    f"lies on a volume that is not mounted; {_counted(absent)} made of files on it",
                )
            kept.update(absent)
        if kept:
            folder = self._folder.path
            if_moved = f"if it was renamed or moved: {hint(folder)}; " if is_missing(folder) else ""
            self._error(
                "",
                f"{quantity(len(kept), 'document stays', 'documents stay')} in the index, because "
                f"the files may only be unreachable; {if_moved}delete them anyway with: idx sync "
                f"--prune-missing {self.source.shown}",
            )
        self.plan.deletions += [name for name in gone if name not in kept]
        self.plan.forgotten += [
            name for name in self._failed if not (is_empty or self._is_unknown(self._path_of(name)))
        ]

    def _report_skipped(self) -> None:
        for path in sorted(self._named.difference(self._crawl.folders)):
            if self._is_unknown(decodable(path)):
                continue
            if not is_missing(self._folder.path / path):
                self._error(
                    path,
                    "is skipped: it is hidden, a secret, a link, the index, the lock of an open "
                    "document, neither file nor folder, or excluded by a pattern or an ignore file",
                )
            elif self.options.reread or not self._has_documents(path):
                self._error(path, "there is no such file or folder")

    def _has_documents(self, path: str) -> bool:
        """Check whether the index has a document or a failure for a missing file or folder."""
        part = Scopes([decodable(path)])
        return any(part.holds(self._path_of(name)) for name in (*self._rest, *self._failed))

    def _is_unknown(self, path: str) -> bool:
        """Check whether a file lies in a folder that could not be examined."""
        unknown = map(decodable, self._crawl.unknown)
        return any(part in ("", path) or path.startswith(f"{part}/") for part in unknown)

    def _is_on_absent_volume(self, name: str) -> bool:
        """Check whether a file was on another volume that is no longer mounted."""
        if not self._rest[name].other_volume:
            return False
        path = self._folder.path / self._path_of(name)
        if not is_missing(path):
            return False
        there = next(parent for parent in path.parents if not is_missing(parent))
        return there.stat().st_dev == self._folder.path.stat().st_dev

    def _is_in_scope(self, name: str) -> bool:
        return self._parts is None or self._parts.holds(self._path_of(name))

    def _without(self) -> frozenset[str]:
        """Return the relative paths of the index's other folders that lie within this one."""
        others = [folder.path for folder in self.plan.folders if folder != self._folder]
        here = Path(os.path.realpath(self._folder.path))
        within = (real for path in others if here in (real := Path(os.path.realpath(path))).parents)
        return frozenset(path.relative_to(here).as_posix() for path in within)

    def _error(self, path: str, reason: str) -> None:
        self.plan.errors.append(SourceFileError(self._folder.path / path, reason))


def _is_pruned(folder: IndexedFolder, options: SyncOptions) -> bool:
    return options.prune_missing and is_missing(folder.path)


def _counted(documents: Collection[str]) -> str:
    return quantity(len(documents), "document was", "documents were")


def _concerns(failure: Failure, found: FoundFile) -> bool:
    return (failure.size, failure.modified_ns) == (found.size, found.modified_ns)


def _add_single_files(
    plan: Plan,
    files: Sequence[Path],
    documents: IndexedDocuments,
    roots: Collection[Identity] | None,
) -> None:
    """Plan to read the files named individually, changed or not."""
    taken = {change.source_document: change.path for change in plan.changes}
    for path in files:
        try:
            change = single_file(path, roots)
        except SourceFileError as error:
            plan.errors.append(error)
            continue
        name = change.source_document
        if name in taken:
            reason = f"has the same id as {taken[name]}, {name!r}"
            plan.errors.append(SourceFileError(path, reason))
        elif conflict := documents.conflict(name, path):
            plan.errors.append(SourceFileError(path, conflict))
        else:
            taken[name] = path
            plan.changes.append(replace(change, is_new=name not in documents.states))
