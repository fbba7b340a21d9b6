"""ZIP archives that are the same each time for the same files."""

import time
import zipfile
from pathlib import Path


def write(folder: Path, target: Path, seconds: int) -> None:
    """Pack the files of a folder in the order of their names.

    Args:
        folder: whose files are packed; whether its owner may execute a file is kept.
        target: the archive to write.
        seconds: the time of all files in it, since 1970; ZIP begins in 1980.
    """
    when = time.gmtime(seconds)[:6]
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}
    with zipfile.ZipFile(target, "w") as archive:
        for name, path in sorted(files.items()):
            if path.is_dir():
                continue
            entry = zipfile.ZipInfo(name, when)
            # As on Linux, also elsewhere.
            entry.create_system = 3
            mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes(), compresslevel=9)
