"""Commits: snapshots of one, their user data, schema version and files, and cached results."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from pathlib import Path
from threading import Lock
from typing import Any, Final, Self, TypeVar

import lucene
from java.util import HashMap
from org.apache.lucene.index import DirectoryReader, FilterDirectoryReader, SegmentInfos

from shared.errors import IndexDamagedError, IndexSchemaError
from shared.installation import software_version
from shared.java.cancellation import stoppable
from shared.model import schema
from shared.model.filters import Collections
from shared.model.folders import IndexedFolders
from shared.model.weights import Weights
from shared.semantic.query_encoder import QueryEncoder
from shared.semantic.sentence_model import SentenceModel
from shared.storage import lucene_errors

Result = TypeVar("Result")

_MAX_CACHED_READERS: Final = 20
"""Number of open readers whose results are cached: a server alternates between the whole index and
the parts of it that tokens are limited to."""


@dataclass(frozen=True)
class Snapshot:
    """A commit as one call sees it, unaffected by later commits."""

    searcher: Any
    path: Path
    weights: Weights
    encoder: QueryEncoder
    collections: Collections  # that can be named

    @cached_property
    def reader(self) -> Any:
        """Lucene's `DirectoryReader` of the commit."""
        return DirectoryReader.cast_(self.searcher.getIndexReader())

    @cached_property
    def folders(self) -> IndexedFolders:
        """Folders that the documents come from."""
        return indexed_folders(self.reader, self.path)

    @cached_property
    def model(self) -> SentenceModel | None:
        """Sentence model of the vectors; None without search by meaning."""
        return sentence_model(self.reader, self.path)

    def stoppable(self) -> Self:
        """Return the same commit with a searcher that can be stopped during costly work."""
        return replace(self, searcher=stoppable(self.searcher))


def cached_per_commit(work: Callable[[Any], Result]) -> Callable[[Any], Result]:
    """Make a function of a reader run once for each commit that is open, whatever thread asks."""
    # The objects that JCC makes of the same reader, a new one at each call, are equal.
    results: dict[Any, Result] = {}
    adding = Lock()

    @wraps(work)
    def cached(reader: Any) -> Result:
        # A stoppable reader is made for each call, around the reader of the commit.
        reader = _of_commit(reader)
        with suppress(KeyError):
            return results[reader]
        result = work(reader)
        with adding:
            # Results of closed readers would only take memory: nobody asks for them again.
            closed = [known for known in results if known.getRefCount() <= 0]
            for old in closed or [*results][: 1 - _MAX_CACHED_READERS]:
                del results[old]
            # Another thread may have done the same work meanwhile.
            return results.setdefault(reader, result)

    return cached


def is_of_commit(reader: Any) -> bool:
    """Check whether a reader is the reader of its commit, not a wrapper around it."""
    return bool(_of_commit(reader).equals(reader))


def _of_commit(reader: Any) -> Any:
    return FilterDirectoryReader.unwrap(DirectoryReader.cast_(reader))


def commit_data(folders: IndexedFolders, path: Path, model: SentenceModel | None) -> Any:
    """Return the user data of a commit by this software, for `IndexWriter.setLiveCommitData`."""
    data = HashMap()
    data.put(schema.COMMIT_SCHEMA, str(schema.SCHEMA_VERSION))
    data.put(schema.COMMIT_SOFTWARE, software_version())
    data.put(schema.COMMIT_LUCENE, lucene.VERSION)
    data.put(schema.COMMIT_FOLDERS, folders.dump(path))
    if model:
        data.put(schema.COMMIT_MODEL, model.dump())
    return data.entrySet()


@cached_per_commit
def user_data(reader: Any) -> Mapping[str, str]:
    """Return the user data of the commit that a reader shows."""
    data = DirectoryReader.cast_(reader).getIndexCommit().getUserData()
    return {str(key): str(data.get(key)) for key in data.keySet()}


def is_limited(reader: Any) -> bool:
    """Check whether a reader shows only a part of its index; see `shared.reading.limited_index`."""
    return schema.COMMIT_LIMITED in user_data(reader)


def indexed_folders(reader: Any, path: Path) -> IndexedFolders:
    """Return the folders that the documents of a reader's commit come from."""
    try:
        return IndexedFolders.load(user_data(reader).get(schema.COMMIT_FOLDERS), path)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise IndexDamagedError(path, "its commit has no readable list of folders") from error


def sentence_model(reader: Any, path: Path) -> SentenceModel | None:
    """Return the sentence model of a commit's vectors; None without search by meaning."""
    text = user_data(reader).get(schema.COMMIT_MODEL)
    if text is None:
        return None
    try:
        return SentenceModel.load(text)
    except (ValueError, TypeError, KeyError) as error:
        raise IndexDamagedError(path, "its commit has no readable sentence model") from error


def commit_files(directory: Any) -> list[str]:
    """Return the names of the files of the last commit, with the commit file last."""
    commit = SegmentInfos.readLatestCommit(directory)
    return [*map(str, commit.files(False)), str(commit.getSegmentsFileName())]


def check_schema(reader: Any, path: Path) -> None:
    """Check that the commit of a reader has the schema of this version."""
    version = rebuilt_schema(reader, path)
    if version != schema.SCHEMA_VERSION:
        raise IndexSchemaError(
            path, f"schema version {version}", schema.SCHEMA_VERSION, rebuilds=True
        )


def rebuilt_schema(reader: Any, path: Path) -> int:
    """Return the schema version of a reader's commit if it can be rebuilt."""
    version = user_data(reader).get(schema.COMMIT_SCHEMA)
    if version is None:
        raise IndexSchemaError(
            path, "no schema version, so another program created it", schema.SCHEMA_VERSION
        )
    if version not in map(str, schema.REBUILT_VERSIONS):
        raise IndexSchemaError(
            path,
            f"schema version {version}, written by mcp-lucene "
            f"{user_data(reader).get(schema.COMMIT_SOFTWARE, 'of an unknown version')}",
            schema.SCHEMA_VERSION,
            newer=version.isdecimal() and int(version) > schema.SCHEMA_VERSION,
        )
    return int(version)


def open_last_commit(
    directory: Any, path: Path, check: Callable[[Any, Path], object] = check_schema
) -> Any:
    """Open a reader of the last commit, after checking its schema version."""
    with lucene_errors.reading(path):
        reader = DirectoryReader.open(directory)
        try:
            check(reader, path)
        except BaseException:
            reader.close()
            raise
        return reader
