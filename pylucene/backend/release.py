"""Build what is published: run `python -m backend.release FOLDER` in this folder."""

import sys
from pathlib import Path

from . import archive, wheel
from .console import one_sentence, say
from .platforms import PLATFORMS
from .wheel import Options


def main(folder: str) -> None:
    """Put the wheels of all platforms and the source distribution into a folder."""
    with one_sentence():
        wheel.obtain_all([Options(platform=platform) for platform in PLATFORMS], Path(folder))
        say(f"the source distribution is {archive.write_sdist(Path(folder))}")


if __name__ == "__main__":
    main(*sys.argv[1:])
