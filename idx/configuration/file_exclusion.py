"""Permanent exclusion of files from their folders, so that no sync adds their documents again."""

import os
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from idx.configuration.remembered_folders import exclude_from_folder
from idx.output.printing import say
from idx.sync.targets import document_id, path_of
from shared.errors import ConfigurationError
from shared.files.access import is_missing
from shared.files.patterns import Patterns
from shared.messages import decodable
from shared.model.folders import IndexedFolder, IndexedFolders
from shared.settings.current import configuration_file
from shared.settings.defaults import VARIABLES
from shared.settings.model import Folder

_ESCAPED_BYTE: Final = re.compile(rb"\\x([0-9a-f]{2})")
_PATTERN_CHARACTERS: Final = frozenset("*?[]\\")


@dataclass(frozen=True, slots=True)
class DocumentFile:
    """File in an indexed folder that a document id denotes.

    Attributes:
        folder: the folder.
        path: the path of the file within it, with slashes.
    """

    folder: IndexedFolder
    path: str

    @property
    def shown(self) -> str:
        """Path of the file as shown in messages."""
        return decodable(str(self.folder.path / self.path))

    @property
    def pattern(self) -> str:
        """Pattern as in a ``.gitignore`` that, in this folder, matches the file alone."""
        end = len(self.path.rstrip())
        return "/" + "".join(
            _literal(character) if position < end else "?"
            for position, character in enumerate(self.path)
        )

    def is_excluded(self, general: Sequence[str], remembered: Iterable[Folder]) -> bool:
        """Check whether it matches patterns to exclude: general ones, or those of its folder."""
        here = os.path.realpath(self.folder.path)
        own = [
            pattern
            for folder in remembered
            if os.path.realpath(folder.path) == here
            for pattern in folder.exclude
        ]
        return any(Patterns(patterns).verdict(self.path) for patterns in (general, own))


def document_file(source_document: str, folders: IndexedFolders) -> DocumentFile | None:
    """Return the existing file that a document id denotes, indexed or not; None if there is none.

    Args:
        source_document: the id.
        folders: the folders of the index.
    """
    for folder in folders:
        path = path_of(source_document, folder)
        if document_id(folder, path, folders) != source_document:
            continue
        # An escaped byte in an id may be a byte that is not UTF-8, or part of a name that contains
        # it.
        unescaped = os.fsdecode(
            _ESCAPED_BYTE.sub(lambda found: bytes.fromhex(found[1].decode()), os.fsencode(path))
        )
        for name in dict.fromkeys((path, unescaped)):
            if name and not is_missing(folder.path / name):
                return DocumentFile(folder, name)
    return None


def exclude(files: Mapping[str, DocumentFile]) -> None:
    """Add patterns to the configuration file that exclude files from their folders, and say so.

    Args:
        files: the files, by document id.

    Raises:
        ConfigurationError: the file cannot be changed, or an environment variable overrides it.
    """
    variable, file = VARIABLES["folders"], configuration_file()
    if os.environ.get(variable):
        raise ConfigurationError(
            variable,
            f"is set and overrides the folders in {file}, where excluded files are remembered; "
            "unset it, or exclude the files where it is set",
        )
    by_folder: dict[Path, list[DocumentFile]] = defaultdict(list)
    for behind in files.values():
        by_folder[behind.folder.path].append(behind)
    for path, excluded in by_folder.items():
        was_remembered = exclude_from_folder(file, path, [behind.pattern for behind in excluded])
        for behind in excluded:
            say(f"{behind.shown} is now excluded, by a pattern in {file}")
        if not was_remembered:
            say(
                f"{decodable(str(path))} is now among the folders there, which idx sync indexes by "
                "default"
            )


def _literal(character: str) -> str:
    if character in _PATTERN_CHARACTERS:
        return f"\\{character}"
    # A configuration file cannot contain lone surrogates, nor a pattern line breaks.
    return "?" if unicodedata.category(character).startswith("C") else character
