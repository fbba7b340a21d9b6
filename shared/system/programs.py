"""Programs of the system, found once by their absolute paths."""

import os
import shutil
from pathlib import Path


def find_program(*names: str) -> str | None:
    """Return the absolute path of the first of some programs that is installed; None if none is.

    Relative folders of the search path are left out, so that nothing in the current folder is run.
    """
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    path = os.pathsep.join(folder for folder in folders if Path(folder).is_absolute())
    # On Windows, which looks into the current folder first.
    found = (shutil.which(name, path=path) for name in names if path)
    return next((each for each in found if each and Path(each).is_absolute()), None)
