"""The file of a wheel, the same bytes from the same content."""

import base64
import hashlib
import os
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path

from .console import BuildError

# The first moment that an entry of a ZIP archive can have: 1 January 1980, in seconds since 1970.
_FIRST = 315_532_800
# Its last, at the end of 2107.
_LAST = 4_354_819_198


def epoch() -> int:
    """The time of all files in a wheel, in seconds since 1970: SOURCE_DATE_EPOCH, or the first."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not given:
        return _FIRST
    if not given.isdecimal() or int(given) > _LAST:
        raise BuildError(f"SOURCE_DATE_EPOCH={given!r} is not a number of seconds up to {_LAST}")
    return max(int(given), _FIRST)


def write(target: Path, files: Mapping[str, Path | bytes], record: str) -> None:
    """Write a wheel of files by their paths in it; at the path `record` it lists all of them."""
    moment = time.gmtime(epoch())[:6]
    lines = []
    with zipfile.ZipFile(target, "w") as archive:
        # What installers read first is at the end, as the specification recommends.
        for name in sorted(files, key=lambda name: (".dist-info/" in name, name)):
            found = files[name]
            content = found if isinstance(found, bytes) else found.read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode()
            lines.append(f"{name},sha256={digest.rstrip('=')},{len(content)}\n")
            _add(archive, name, content, moment)
        lines.append(f"{record},,\n")
        _add(archive, record, "".join(lines).encode(), moment)


def _add(archive: zipfile.ZipFile, name: str, content: bytes, moment: tuple[int, ...]) -> None:
    year, month, day, hour, minute, second = moment
    entry = zipfile.ZipInfo(name, (year, month, day, hour, minute, second))
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.create_system = 3  # Unix, for which the mode below is
    entry.external_attr = (0o100755 if name.endswith((".so", ".pyd")) else 0o100644) << 16
    archive.writestr(entry, content)
