"""Writing a file as a whole: whoever reads it sees the old content or the new one."""

import os
import stat
import tempfile
from pathlib import Path
from typing import Final

_OWNER_ONLY: Final = 0o600


def replace(file: Path, content: bytes) -> None:
    """Replace a file, or the one that a link leads to; the permissions stay.

    A file that does not exist is created with its folders, for its owner only.

    Raises:
        OSError: it could not be written, and is as it was.
    """
    # A link is how dotfiles are often kept: it stays one.
    target = Path(os.path.realpath(file))
    target.parent.mkdir(parents=True, exist_ok=True)
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else _OWNER_ONLY
    with tempfile.NamedTemporaryFile(
        "wb", dir=target.parent, prefix=f".{target.name}.", delete=False
    ) as new:
        try:
            new.write(content)
            new.flush()
            os.fchmod(new.fileno(), mode)
            os.fsync(new.fileno())
            Path(new.name).replace(target)
        except BaseException:
            Path(new.name).unlink()
            raise
