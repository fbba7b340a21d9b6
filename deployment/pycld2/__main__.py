"""Build wheels of pycld2: `python -m deployment.pycld2 FOLDER [PLATFORM...]`, finding pylucene/."""

import sys
from pathlib import Path

from backend.errors import one_sentence
from backend.platforms import PLATFORMS, named

from deployment.pycld2 import wheel


def main(folder: str, *tags: str) -> None:
    """Put wheels into a folder.

    Args:
        folder: where to, made when absent.
        tags: the platforms that they are for, as in the names of wheels; none for all.

    Raises:
        SystemExit: one of them cannot be built; its text is one sentence that says why.
    """
    with one_sentence():
        wheel.obtain_all([named(tag) for tag in tags] or PLATFORMS, Path(folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
