"""The hashes of all files that are published, and the time that these files carry."""

import hashlib
import os
import sys
from pathlib import Path
from typing import Final

_FIRST_TIME: Final = 315_532_800
"""Time of published files unless SOURCE_DATE_EPOCH sets a later one, in seconds: 1 January 1980,
with which ZIP archives begin."""


def write(folder: Path) -> int:
    """Write SHA256SUMS for all other files of a folder, and return their number."""
    target = folder / "SHA256SUMS"
    files = sorted(file for file in folder.iterdir() if file.is_file() and file != target)
    lines = []
    for file in files:
        with file.open("rb") as content:
            lines.append(f"{hashlib.file_digest(content, 'sha256').hexdigest()}  {file.name}\n")
    target.write_text("".join(lines), encoding="utf-8")
    return len(files)


def seconds() -> int:
    """Return the time that published files carry, in seconds since 1970."""
    given = os.environ.get("SOURCE_DATE_EPOCH") or str(_FIRST_TIME)
    if not given.isdecimal():
        sys.exit(f"SOURCE_DATE_EPOCH={given!r} is not a number of seconds")
    return max(int(given), _FIRST_TIME)
