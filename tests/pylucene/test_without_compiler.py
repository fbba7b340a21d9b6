"""A system with Python, venv and make, but without a compiler and headers: all is built there."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests import programs
from tests.elsewhere import debian

LIST = ("git", "ls-files", "-z")

pytestmark = [
    pytest.mark.soak,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(
        not debian.can_make_systems(),
        reason="only root can make a system, with mmdebstrap of the Debian package of that name",
    ),
]


@pytest.fixture
def system(tmp_path: Path) -> Path:
    """The folder of a Debian with a copy of the sources of this project."""
    folder = tmp_path / "system"
    debian.make(folder, "bookworm")
    listed = subprocess.run(LIST, cwd=debian.ROOT, capture_output=True, check=True)
    for name in listed.stdout.decode().split("\0")[:-1]:
        copy = folder / debian.PROJECT / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(debian.ROOT / name, copy)
    return folder


def run(system: Path, command: str) -> str:
    """Run a command of the shell in the system."""
    in_system = debian.command(system, "sh", "-c", command)
    done = programs.run(*in_system, env=debian.environment(), stderr=subprocess.STDOUT)
    return done.stdout


def test_the_wheel_and_the_demonstration_need_no_compiler(system: Path) -> None:
    for missing in ("cc", "gcc", "g++", "c++", "clang", "java"):
        run(system, f"! command -v {missing}")
    run(system, "! ls -d /usr/include/python3*")
    run(system, "python3 -m venv /v && /v/bin/pip wheel --no-deps -w /wheels ./pylucene")
    (wheel,) = (system / "wheels").iterdir()
    assert wheel.name.startswith("pylucene-")
    assert "Waiting time between attempts doubles" in run(system, "make demo")
