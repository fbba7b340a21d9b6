"""Whether a folder can be reached, whatever is wrong with what it lies on."""

import os
from pathlib import Path


def is_folder(path: Path | str) -> bool:
    """Whether there is a folder at a path, or a link to one, that can be looked at.

    `Path.is_dir` raises an error for a mount whose server is gone, and below a folder that this
    user may not search; this says no.
    """
    return os.path.isdir(path)  # noqa: PTH112 - see above
