"""The source distribution: the files of this folder and PKG-INFO, the same bytes every time."""

import gzip
import io
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from . import source


def write(folder: Path) -> Path:
    """Write the source distribution."""
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
