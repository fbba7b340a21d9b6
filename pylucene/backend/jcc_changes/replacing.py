"""Replacing passages of JCC's code; a passage that is not there ends the build."""

import re
from collections.abc import Callable
from pathlib import Path

from backend.console import BuildError


def replace(file: Path, old: str, new: str, does: str) -> None:
    """Replace the only occurrence of a passage; `does` says for the error what JCC does there."""
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
    """Replace every match of a pattern, as `re.sub`, in the files whose names match `files`."""
    replaced = 0
    for file in sorted(folder.glob(files)):
        text, count = old.subn(new, file.read_text(encoding="utf-8"))
        if count:
            file.write_text(text, encoding="utf-8")
        replaced += count
    if not replaced:
        raise BuildError(f"this JCC does not {does} in the known way ({files})")
