"""The files of a folder that are documents: all, less what is hidden, secret or ignored.

Nothing that is found in a folder can widen what is taken from it: an ignore file only takes
away, and a link that leads out of the folder is not followed unless the user asks for it.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from pathspec import GitIgnoreSpec

from shared.errors import SourceFileError

IGNORE_FILES: Final = (".gitignore", ".idxignore")
"""Files whose patterns take away from the folder they lie in, in the syntax of git."""

SECRETS: Final = (
    *(".env*", ".netrc", ".pgpass", ".htpasswd", ".git-credentials", ".aws/", ".ssh/", ".gnupg/"),
    *("id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.pem", "*.key", "*.ppk", "*.p8"),
    *("*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdb", "*.kdbx", "*.agilekeychain", "*.gpg"),
    ".git/",
)
"""Private keys, key stores, password files and repositories: never documents."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which files of a folder are taken.

    Attributes:
        include: patterns as in a ``.gitignore``; if there are any, only files that match one.
        exclude: patterns as in a ``.gitignore``; files and folders that match are left out.
        hidden: whether files and folders whose name begins with a dot are taken.
        follow_links: whether symbolic links are followed.
    """

    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    hidden: bool = False
    follow_links: bool = False


def crawl(folder: Path, selection: Selection) -> Iterator[Path | SourceFileError]:
    """Find the documents in a folder and the folders in it.

    Args:
        folder: the folder.
        selection: which of its files are taken.

    Yields:
        Paths that begin with the folder's, in the order of their names, folder by folder; an
        error for each folder that could not be listed.
    """
    wanted = GitIgnoreSpec.from_lines(selection.include)
    unwanted = GitIgnoreSpec.from_lines((*selection.exclude, *SECRETS))
    for found in _walk(folder, PurePosixPath(), selection, unwanted, [], frozenset()):
        if isinstance(found, SourceFileError):
            yield found
        elif not selection.include or wanted.match_file(found):
            yield folder / found


Rules = list[tuple[PurePosixPath, GitIgnoreSpec]]
"""Ignore rules with the folder they hold for, the outermost first."""


def _walk(
    folder: Path,
    within: PurePosixPath,
    selection: Selection,
    unwanted: GitIgnoreSpec,
    rules: Rules,
    parents: frozenset[tuple[int, int]],
) -> Iterator[PurePosixPath | SourceFileError]:
    """The files below `folder / within` as paths relative to the folder."""
    here = folder / within
    try:
        status = here.stat()
        with os.scandir(here) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
        rules = [*rules, *_ignore_rules(here, within)]
    except OSError as error:
        yield SourceFileError(here, f"cannot be listed: {error.strerror or error}")
        return
    identity = (status.st_dev, status.st_ino)
    if identity in parents:
        # A link led back to a folder that this one lies in.
        return
    for entry in entries:
        if entry.name.startswith(".") and not selection.hidden:
            continue
        path = within / entry.name
        is_folder = entry.is_dir(follow_symlinks=selection.follow_links)
        # What the user and the list of secrets take away, no file in the folder gives back.
        if unwanted.match_file(_spelled(path, is_folder)) or _is_ignored(path, is_folder, rules):
            continue
        if is_folder:
            inside = parents | {identity}
            yield from _walk(folder, path, selection, unwanted, rules, inside)
        elif entry.is_file(follow_symlinks=selection.follow_links):
            yield path


def _is_ignored(path: PurePosixPath, is_folder: bool, rules: Rules) -> bool:
    """What the innermost ignore file with a pattern for the path says, as git does it."""
    for above, spec in reversed(rules):
        verdict = spec.check_file(_spelled(path.relative_to(above), is_folder)).include
        if verdict is not None:
            return verdict
    return False


def _spelled(path: PurePosixPath, is_folder: bool) -> str:
    """A path as patterns see it: a folder ends with a slash."""
    return f"{path}/" if is_folder else str(path)


def _ignore_rules(here: Path, within: PurePosixPath) -> Rules:
    """The rules of the ignore files in a folder."""
    rules = []
    for name in IGNORE_FILES:
        file = here / name
        if file.is_file() and not file.is_symlink():
            lines = file.read_text(errors="replace").splitlines()
            rules.append((within, GitIgnoreSpec.from_lines(lines)))
    return rules
