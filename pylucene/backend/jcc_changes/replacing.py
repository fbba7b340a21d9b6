"""Replacing passages of JCC's code; a passage that is not there ends the build."""

import re
from collections.abc import Callable
from pathlib import Path

from backend.console import BuildError


def replace(file: Path, old: str, new: str, does: str) -> None:
    """Replace the only occurrence of a passage in a file.

    Args:
        file: the file to change.
        old: the passage.
        new: what takes its place.
        does: what JCC does in this passage, for the error.

    Raises:
        BuildError: the passage is not there, or more than once; nothing is known about this JCC.
    """
    text = file.read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise BuildError(f"this JCC does not {does} in the known way ({file.name})")
    file.write_text(text.replace(old, new), encoding="utf-8")


def replace_all(
    folder: Path,
    files: str,
    old: re.Pattern[str],
    new: str | Callable[[re.Match[str]], str],
    does: str,
) -> None:
    """Replace every match of a pattern in the files of a folder.

    Args:
        folder: the folder with the code.
        files: the names of the files to change, with wildcards.
        old: the pattern.
        new: what takes the place of a match, as in `re.sub`.
        does: what JCC does where the pattern matches, for the error.

    Raises:
        BuildError: no file has a match; nothing is known about this JCC.
    """
    replaced = 0
    for file in sorted(folder.glob(files)):
        text, count = old.subn(new, file.read_text(encoding="utf-8"))
        if count:
            file.write_text(text, encoding="utf-8")
        replaced += count
    if not replaced:
        raise BuildError(f"this JCC does not {does} in the known way ({files})")
