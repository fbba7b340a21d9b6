"""What a commit says about itself: the schema and the software that wrote it."""

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from pathlib import Path
from threading import Lock
from typing import Any, Final, TypeVar

import lucene
from java.util import HashMap
from org.apache.lucene.index import DirectoryReader, FilterDirectoryReader, SegmentInfos

from shared.errors import IndexDamagedError, IndexSchemaError
from shared.model import schema
from shared.model.folders import IndexedFolders
from shared.storage import lucene_errors
from shared.version import software_version

Result = TypeVar("Result")

_READERS: Final = 2
"""Readers that something is remembered of: a program may search two indexes in turns."""


def remembered(work: Callable[[Any], Result]) -> Callable[[Any], Result]:
    """Have a function of a reader work once for each commit; threads may share it.

    Args:
        work: takes a Lucene reader of a whole commit, and returns what nobody changes.

    Returns:
        The function, which remembers its results for the last readers that it got and that are
        still open.
    """
    newest: tuple[tuple[Any, Result], ...] = ()
    adding = Lock()

    def known(reader: Any) -> Iterator[Result]:
        # Each call of JCC wraps the reader anew.
        return (result for other, result in newest if other.equals(reader))

    @wraps(work)
    def recall(reader: Any) -> Result:
        nonlocal newest
        # One that can be stopped is made for each call, around that of the commit.
        reader = _of_commit(reader)
        for result in known(reader):
            return result
        result = work(reader)
        with adding:
            # Another thread may have done the same work meanwhile.
            for earlier in known(reader):
                return earlier
            # What is known of a closed reader would only take memory: nobody asks for it again.
            still_open = [entry for entry in newest if entry[0].getRefCount() > 0]
            newest = ((reader, result), *still_open[: _READERS - 1])
        return result

    return recall


def is_of_commit(reader: Any) -> bool:
    """Whether a reader is that of its commit, and not one around it."""
    return bool(_of_commit(reader).equals(reader))


def _of_commit(reader: Any) -> Any:
    return FilterDirectoryReader.unwrap(DirectoryReader.cast_(reader))


def commit_data(folders: IndexedFolders, path: Path) -> Any:
    """The user data of a commit by this software, for `IndexWriter.setLiveCommitData`.

    Args:
        folders: the folders that documents come from.
        path: the index folder.
    """
    data = HashMap()
    data.put(schema.COMMIT_SCHEMA, str(schema.SCHEMA_VERSION))
    data.put(schema.COMMIT_SOFTWARE, software_version())
    data.put(schema.COMMIT_LUCENE, lucene.VERSION)
    data.put(schema.COMMIT_FOLDERS, folders.dump(path))
    return data.entrySet()


@remembered
def user_data(reader: Any) -> Mapping[str, str]:
    """The user data of the commit that a reader shows."""
    data = DirectoryReader.cast_(reader).getIndexCommit().getUserData()
    keys = (
        schema.COMMIT_SCHEMA,
        schema.COMMIT_SOFTWARE,
        schema.COMMIT_LUCENE,
        schema.COMMIT_FOLDERS,
    )
    return {key: str(data.get(key)) for key in keys if data.containsKey(key)}


def indexed_folders(reader: Any, path: Path) -> IndexedFolders:
    """The folders that the documents of the commit come from that a reader shows.

    Args:
        reader: the reader.
        path: the index folder.

    Raises:
        IndexDamagedError: the commit's list of folders is not one that this project has written.
    """
    try:
        return IndexedFolders.load(user_data(reader).get(schema.COMMIT_FOLDERS), path)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise IndexDamagedError(path, "its commit has no readable list of folders") from error


def commit_files(directory: Any) -> list[str]:
    """The names of the files of the last commit, that of the commit itself at the end.

    Args:
        directory: Lucene's view of the index folder.
    """
    commit = SegmentInfos.readLatestCommit(directory)
    return [*map(str, commit.files(False)), str(commit.getSegmentsFileName())]


def open_last_commit(directory: Any, path: Path) -> Any:
    """A reader of the last commit, which is one that this version can use.

    Args:
        directory: Lucene's view of the index folder.
        path: the index folder.

    Raises:
        IndexFolderError: the index cannot be used; the class says why.
    """
    with lucene_errors.reading(path):
        reader = DirectoryReader.open(directory)
        try:
            check_schema(reader, path)
        except BaseException:
            reader.close()
            raise
        return reader


def check_schema(reader: Any, path: Path) -> None:
    """Make sure that the commit a reader shows has the schema of this version.

    Raises:
        IndexSchemaError: it has another one, or none because another program wrote it.
    """
    version = rebuilt_schema(reader, path)
    if version != schema.SCHEMA_VERSION:
        raise IndexSchemaError(
            path, f"schema version {version}", schema.SCHEMA_VERSION, rebuilds=True
        )


def rebuilt_schema(reader: Any, path: Path) -> int:
    """The schema version of the commit a reader shows, one that can be built anew.

    Raises:
        IndexSchemaError: it has another one, or none because another program wrote it.
    """
    version = user_data(reader).get(schema.COMMIT_SCHEMA)
    if version is None:
        raise IndexSchemaError(
            path, "no schema version, so another program wrote it", schema.SCHEMA_VERSION
        )
    if version not in map(str, schema.REBUILT_VERSIONS):
        raise IndexSchemaError(path, f"schema version {version}", schema.SCHEMA_VERSION)
    return int(version)
