"""Backup: a copy of the last commit of an index, taken while others read and write it.

A backup is a folder with an index that can be searched, the list of failures, and a note of its
source.
"""

import errno
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, Final

from shared.errors import BackupError, IndexDamagedError, IndexFolderError, IndexPathError
from shared.files import index_folder
from shared.files.access import holds, read_regular
from shared.files.index_folder import replace_folder, size_bytes
from shared.files.lucene_files import begins_as_lucene, damage_of, is_lucene_file
from shared.java import vm
from shared.maintenance.upkeep import Progress, Step
from shared.messages import reason_of, utc_time
from shared.model import failures
from shared.storage import lucene_errors
from shared.storage.commits import commit_files, open_last_commit, rebuilt_schema
from shared.storage.integrity import open_directory
from shared.storage.stored_chunks import counts
from shared.system import flush, open_shared

NOTE: Final = "backup.json"
"""Name of the file with the index that a folder is a backup of."""

_MAX_NOTE_BYTES: Final = 100_000

_BLOCK_BYTES: Final = 1 << 20

_OTHER_FILES: Final = frozenset({"write.lock", NOTE, failures.FILE_NAME})
"""Files in a backup without a Lucene header."""


@dataclass(frozen=True, slots=True)
class BackedUp:
    """Result of a backup: its folder, what is in it, and the size of the index files in it."""

    path: str
    documents: int
    chunks: int
    files: int
    size_bytes: int
    seconds: float


def backup(path: Path | str, destination: Path | str, *, progress: Progress = iter) -> BackedUp:
    """Copy the last commit of an index while writers continue.

    Each file is compared with its checksum. The copy is complete and on the disk before it replaces
    an older one; a run that ends earlier leaves the older one unchanged.

    Args:
        path: the index folder.
        destination: the folder of the backup: a new one, an empty one, or an older backup of the
            same index.
        progress: a function that passes on the steps of the copy.

    Raises:
        IndexMissingError: there is no index at the path.
        IndexDamagedError: a file of it is missing, cut short or changed.
        IndexFolderError: the index cannot be read; the class says why.
        BackupError: the destination lies in the index folder or holds it, holds something else,
            or cannot be written.
    """
    began = time.monotonic()
    path = index_folder.absolute(path)
    # Not Path.resolve, which fails for a link to itself.
    destination = index_folder.absolute(os.path.realpath(destination))
    index_folder.identify(path)
    _check_destination(path, destination)
    with vm.attached("batch"), lucene_errors.reading(path):
        # Before anything is copied. The copy reports which file of a damaged index is at fault.
        with suppress(IndexDamagedError), closing(open_directory(path)) as directory:
            open_last_commit(directory, path, rebuilt_schema).close()
        try:
            destination.parent.mkdir(parents=True, exist_ok=True)
            # Next to the backup, on the same file system, so that it can be renamed into its place.
            new = Path(tempfile.mkdtemp(prefix=f".{destination.name}.", dir=destination.parent))
            superfluous: Path | None = new
            try:
                for _ in progress(_copy(path, new)):
                    pass
                done = _describe(path, new, destination)
                _finish(path, new)
                # Checked again: something may have been put there meanwhile.
                _check_destination(path, destination)
                superfluous = replace_folder(new, destination)
            finally:
                if superfluous:
                    # The older backup may be read-only.
                    with suppress(OSError):
                        superfluous.chmod(0o700)
                    shutil.rmtree(superfluous, ignore_errors=True)
        except OSError as error:
            raise BackupError(
                f"the backup {destination} cannot be written: {reason_of(error)}; the older files "
                "there are unchanged: free some space, or choose another folder"
            ) from error
    return BackedUp(**done, seconds=round(time.monotonic() - began, 3))


def _check_destination(path: Path, destination: Path) -> None:
    """Make sure that a backup can be put somewhere without harm to anything else."""
    if holds(path, destination):
        raise BackupError(
            f"the backup {destination} would lie in the index folder {path}, and be lost with it; "
            "name a folder outside of the index"
        )
    if holds(destination, path):
        raise BackupError(
            f"the index {path} lies in {destination}, which the backup would replace; name a "
            "folder that does not contain the index"
        )
    _refuse_foreign_files(path, destination)


def _refuse_foreign_files(path: Path, destination: Path) -> None:
    try:
        if not destination.is_dir():
            if destination.exists() or destination.is_symlink():
                raise BackupError(f"{destination} is not a folder; name one for the backup")
            return
        if os.path.ismount(destination):
            raise BackupError(
                f"a backup replaces its folder, and {destination} is a mount point; "
                f"name a folder on it, such as {destination / path.name}"
            )
        entries = [*destination.iterdir()]
        if not entries:
            return
        note = destination / NOTE
        source = _source_index(note) if note.exists() or note.is_symlink() else None
        is_own = source is not None and os.path.realpath(source) == os.path.realpath(path)
        others = [file.name for file in entries if not _belongs_to_backup(file)]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BackupError(
            f"{destination} is not a readable backup ({NOTE}: {error}); name an empty or a new "
            "folder"
        ) from error
    if source is None:
        raise BackupError(
            f"{destination} contains something other than a backup; name an empty or a new folder"
        )
    if not is_own:
        raise BackupError(
            f"{destination} is a backup of another index, {source}; name an empty or a new folder"
        )
    if others:
        raise BackupError(
            f"the backup {destination} also contains other files, such as {min(others)!r}, which "
            "would be deleted; move them away, or name an empty or a new folder"
        )


def _source_index(note: Path) -> str:
    """Return the index that the note of a backup names."""
    source = json.loads(read_regular(note, _MAX_NOTE_BYTES))["source"]
    if not isinstance(source, str) or b"\0" in os.fsencode(source):
        raise TypeError("it names no index")
    return source


def _belongs_to_backup(file: Path) -> bool:
    """Check whether a file belongs to a backup, so that it may be deleted with it.

    The name alone is not sufficient: `_letter.doc` could be a Lucene file, too.
    """
    if not file.is_file():
        return False
    if file.name in _OTHER_FILES:
        return True
    return is_lucene_file(file.name) and begins_as_lucene(file)


def _copy(path: Path, new: Path) -> Iterator[Step]:
    """Copy the files of the last commit."""
    with closing(open_directory(path)) as directory, ExitStack() as opened:
        files = _open_files(path, directory, opened)
        total, done = sum(os.fstat(file.fileno()).st_size for file in files.values()), 0
        for name, file in files.items():
            with (new / name).open("wb") as copy:
                while block := _read_block(path, name, file):
                    copy.write(block)
                    done += len(block)
                    yield Step("Copying", done, total)
            # The copy is read back, so that damage to either file is found.
            if damage := damage_of(new / name):
                raise IndexDamagedError(path, f"file {name}: {damage}")
            flush(new / name)


def _open_files(path: Path, directory: Any, opened: ExitStack) -> dict[str, BufferedReader]:
    """Open the files of the last commit: a writer that deletes them removes only their names."""
    tried = None
    while True:
        names = commit_files(directory)
        files = {}
        for name in names:
            try:
                files[name] = opened.enter_context(open_shared(path / name))
            except FileNotFoundError as error:
                # Otherwise a writer has deleted it after a newer commit.
                if names[-1] == tried:
                    raise IndexDamagedError(path, f"its file {name} is missing") from error
                break
            except OSError as error:
                raise _unreadable(path, name, error) from error
        else:
            return files
        tried = names[-1]
        opened.close()


def _read_block(path: Path, name: str, file: BufferedReader) -> bytes:
    try:
        return file.read(_BLOCK_BYTES)
    except OSError as error:
        raise _unreadable(path, name, error) from error


def _unreadable(path: Path, name: str, error: OSError) -> IndexFolderError:
    """Return the error for a file of the index, which is not one of writing the backup."""
    reason = reason_of(error)
    if error.errno == errno.EIO:
        return IndexDamagedError(path, f"file {name}: it cannot be read: {reason}")
    return IndexPathError(path, f"{name}: {reason}")


def _describe(path: Path, new: Path, destination: Path) -> dict[str, Any]:
    """Open a copy, which checks that its files belong together, and return its figures."""
    with (
        closing(open_directory(new)) as directory,
        # A writer may have replaced the index that was checked before.
        closing(open_last_commit(directory, path, rebuilt_schema)) as reader,
    ):
        names = commit_files(directory)
        documents, chunks = counts(reader)
        return {
            "path": str(destination),
            "documents": documents,
            "chunks": chunks,
            "files": len(names),
            "size_bytes": size_bytes(new / name for name in names),
        }


def _finish(path: Path, new: Path) -> None:
    """Add the files of a backup that are not Lucene's, and flush everything to the disk."""
    if (path / failures.FILE_NAME).exists():
        failures.save_failures(new, failures.load_failures(path))
        flush(new / failures.FILE_NAME)
    note = new / NOTE
    note.write_text(json.dumps({"source": str(path), "created": utc_time()}), "ascii")
    flush(note)
    flush(new)
