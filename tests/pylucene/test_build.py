"""Real builds, from an empty cache on: they download 300 MB and take minutes."""

import os
import shutil
import sys
import zipfile
from pathlib import Path

import pytest
from backend.platforms import PLATFORMS, here

from deployment.release import check
from tests import programs

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]


def build(pylucene: Path, cache: Path, *command: str) -> None:
    """Run the backend with nothing on the PATH: no compiler, no Java, no git."""
    environ = os.environ | {"PATH": "", "XDG_CACHE_HOME": str(cache)}
    programs.run(sys.executable, *command, cwd=pylucene, env=environ)


# A linker for Windows puts the time into a module unless it is told one.
@pytest.mark.parametrize("tag", [here().tag, "win_amd64"])
def test_a_machine_without_compiler_and_headers_builds_the_same_wheel_twice(
    pylucene: Path, cache_home: Path, tmp_path: Path, tag: str
) -> None:
    wheels: list[Path] = []
    for folder in ("first", "second"):
        settings = {"platform": tag}
        call = f"import backend; backend.build_wheel({str(tmp_path / folder)!r}, {settings})"
        build(pylucene, cache_home, "-c", call)
        wheels += (tmp_path / folder).iterdir()
        shutil.rmtree(cache_home / "pylucene" / "wheels")
    first, second = wheels
    assert first.name == second.name == f"pylucene-10.5.0-cp311-abi3-{tag}.whl"
    assert first.read_bytes() == second.read_bytes()


def test_one_machine_builds_the_wheels_of_all_platforms(
    pylucene: Path, cache_home: Path, tmp_path: Path
) -> None:
    build(pylucene, cache_home, "-m", "backend.release", str(tmp_path / "dist"))
    assert len(list((tmp_path / "dist").glob("*.tar.gz"))) == 1
    for platform in PLATFORMS:
        (wheel,) = (tmp_path / "dist").glob(f"*-cp311-abi3-{platform.tag}.whl")
        with zipfile.ZipFile(wheel) as archive:
            module = check.read_module(archive.read(f"lucene/_lucene{platform.extension}"))
        assert check.module_complaints(check.ALLOWED["pylucene"][platform.tag], module) == []
