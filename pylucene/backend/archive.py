"""The files of a wheel and of a source distribution, the same bytes from the same content."""

import base64
import gzip
import hashlib
import io
import os
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from . import source
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


def write_wheel(target: Path, files: Mapping[str, Path | bytes], record: str) -> None:
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


def write_sdist(folder: Path) -> Path:
    """Write the source distribution: the files of this folder and PKG-INFO."""
    table = source.project()
    name = f"{table['name']}-{table['version']}"
    target = folder / f"{name}.tar.gz"
    with tempfile.TemporaryDirectory(dir=folder, prefix=".") as temporary:
        archive = Path(temporary) / target.name
        with (
            archive.open("wb") as file,
            gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
        ):
            for path, content in _members():
                # Owner, mode and time stay at their defaults: they say nothing about the package.
                member = tarfile.TarInfo(f"{name}/{path}")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
        archive.replace(target)
    return target


def _members() -> Iterator[tuple[str, bytes]]:
    yield "PKG-INFO", source.pkg_info().encode()
    for path in source.files():
        yield path.as_posix(), (source.ROOT / path).read_bytes()
