"""Checks of the index, its writer, the files missing from it, and its folders."""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from idx.doctor.checks import Finding, Findings
from idx.errors import message
from shared.errors import ConfigurationError, FilterError, McpLuceneError
from shared.files.access import is_folder
from shared.installation import upgrade_command
from shared.messages import decodable, quantity
from shared.model.failures import ERRORS
from shared.model.filters import Collection, configured_collections
from shared.model.index_results import FailureList, IndexStatistics
from shared.storage.lock import writer
from shared.system.shell import quoted
from shared.version import is_newer, software_version

if TYPE_CHECKING:
    from shared.reading.searcher import Searcher


def index(path: Path) -> Findings:
    """Check whether the index can be read and written, and report missing files and folders."""
    from shared.reading.searcher import Searcher

    try:
        with Searcher(path, collections=_collections()) as searcher:
            figures, failures = searcher.statistics(), searcher.failures()
            folders = [folder.path for folder in searcher.folders()]
            collections = [_collection(searcher, name) for name in searcher.collections]
    except McpLuceneError as error:
        yield Finding("Index", "problem", message(error))
        folders = []
    else:
        yield _size(figures)
        yield from _version(figures)
        yield _failures(failures)
        yield from collections
    yield from _writing(path)
    yield from _folders(folders)


def _size(figures: IndexStatistics) -> Finding:
    if not figures.documents:
        return Finding(
            "Index", "warning", f"{figures.path} holds no documents; add some: idx sync FOLDER"
        )
    return Finding(
        "Index",
        "ok",
        f"{figures.path}: {quantity(figures.documents, 'document')}, "
        f"{quantity(figures.chunks, 'chunk')}, "
        f"{figures.size_bytes / 1e6:,.1f} MB, schema version {figures.schema_version}",
    )


def _version(figures: IndexStatistics) -> Findings:
    if is_newer(figures.software_version, software_version()):
        yield Finding(
            "Version",
            "warning",
            f"mcp-lucene {figures.software_version} has written the index, which is newer than "
            f"this one ({software_version()}); upgrade: {upgrade_command()}",
        )


def _failures(failures: FailureList) -> Finding:
    kinds = Counter(failure.kind for failure in failures.failures)
    unsupported = quantity(kinds["unsupported"], "unsupported file")
    others = f"{unsupported}, {quantity(kinds['empty'], 'empty file')}"
    failed = sum(kinds[kind] for kind in ERRORS)
    if not failed:
        return Finding("Files", "ok", f"none that should have been read is missing; {others}")
    return Finding(
        "Files",
        "warning",
        f"{failed:,} could not be read; see why: idx failures; then: idx sync --retry",
    )


def _collections() -> Sequence[Collection]:
    try:
        return configured_collections()
    except ConfigurationError:
        # Reported by the check of the configuration.
        return ()


def _collection(searcher: "Searcher", name: str) -> Finding:
    try:
        documents = searcher.documents(collection=name, limit=1).total_documents
    except FilterError as error:
        return Finding("Collection", "problem", f"{name}: {error}; see idx collections list")
    if not documents:
        return Finding(
            "Collection",
            "warning",
            f"{name} has no documents; look at its folder and filters: idx collections list",
        )
    return Finding("Collection", "ok", f"{name} has {quantity(documents, 'document')}")


def _writing(path: Path) -> Findings:
    if is_folder(path) and not os.access(path, os.W_OK):
        yield Finding(
            "Writer",
            "warning",
            f"{path} cannot be written by this user; idx can search it, but not change it: fix "
            "its permissions if it should",
        )
        return
    try:
        process = writer(path)
    except OSError:
        process = None
    if process:
        yield Finding(
            "Writer", "warning", f"the index is locked by {process}; others wait until it has ended"
        )
    elif is_folder(path):
        yield Finding("Writer", "ok", "no process that can be seen from here is writing the index")


def _folders(indexed: Iterable[Path]) -> Findings:
    from shared.settings.current import remembered_folders

    known = dict.fromkeys(indexed, "in the index")
    try:
        remembered = [folder.path for folder in remembered_folders()]
    except ConfigurationError:
        # Reported by the check of the configuration.
        remembered = []
    new = [path for path in dict.fromkeys(remembered) if path not in known]
    for path, origin in (known | dict.fromkeys(new, "remembered, not in the index yet")).items():
        shown = decodable(str(path))
        ways = {
            "idx sync --prune-missing": path in known,
            "idx folders remove": path in remembered,
        }
        if not is_folder(path):
            what = "is missing, or cannot be reached"
        elif not os.access(path, os.R_OK | os.X_OK):
            what = "cannot be read by this user"
        else:
            yield Finding("Folder", "ok", f"{shown} ({origin})")
            continue
        yield Finding(
            "Folder",
            "problem",
            f"{shown} {what}; its documents stay as they are: mount it or fix its permissions, or "
            "give it up: "
            + "; ".join(f"{way} {quoted(shown)}" for way, helps in ways.items() if helps),
        )
