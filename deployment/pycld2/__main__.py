"""Build wheels of pycld2: `python -m deployment.pycld2 FOLDER [PLATFORM...]`, finding pylucene/."""

import sys
from pathlib import Path

from backend.console import one_sentence
from backend.platforms import PLATFORMS, named

from deployment.pycld2 import wheel


def main(folder: str, *tags: str) -> None:
    """Put wheels into a folder."""
    with one_sentence():
        wheel.obtain_all([named(tag) for tag in tags] or PLATFORMS, Path(folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
