"""A backup, compared with its checksums before anything is made of it."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import lucene  # noqa: F401 - the packages of Java can be imported after it only

from shared import java_errors
from shared.checksums import damage_of
from shared.commit import commit_files
from shared.errors import BackupError, IndexDamagedError, IndexLuceneVersionError
from shared.lucene_directory import open_directory
from shared.progress import Step
from shared.statistics import size_bytes


def checked_backup(source: Path, links: Path) -> Iterator[Step]:
    """Compare the files of a backup with their checksums, and link them into another folder.

    Args:
        source: the folder of the backup.
        links: an empty folder, for a link to each file of the last commit.

    Yields:
        How many bytes are compared.

    Raises:
        BackupError: a file is missing, cut short or changed.
        IndexFolderError: it cannot be read for another reason; the class says why.
    """
    try:
        with (
            java_errors.reading(source),
            closing(open_directory(source)) as directory,
        ):
            names = commit_files(directory)
    except IndexDamagedError as error:
        raise _damaged(source, error.reason) from error
    except IndexLuceneVersionError as error:
        # A changed bit can look like another version.
        for file in source.glob("segments_*"):
            if damage := damage_of(file):
                raise _damaged(source, f"file {file.name}: {damage}") from error
        raise
    total, done = size_bytes(source / name for name in names), 0
    for name in names:
        yield Step("Checking the backup", done, total)
        try:
            damage = damage_of(source / name)
            done += (source / name).stat().st_size
        except OSError as error:
            damage = error.strerror or str(error)
        if damage:
            raise _damaged(source, f"file {name}: {damage}")
        (links / name).symlink_to(source / name)


def _damaged(source: Path, reason: str) -> BackupError:
    return BackupError(
        f"the backup {source} is damaged: {reason}; nothing was done: take another backup"
    )
