"""Test the finished wheels in dist as they are installed: ``python -m tests.installed``.

The programs are those of the wheels, in an environment of their own in ``build/installed``, which
needs neither a compiler nor the sources of PyLucene. On Linux all tests run, elsewhere those that
hold on every system.
"""

import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
FOLDER: Final = ROOT / "build" / "installed"
PYTHON: Final = FOLDER / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")

EVERYWHERE: Final = (
    *("tests/shared", "tests/idx/test_commands.py", "tests/server/test_tools.py"),
    "tests/server/test_resources.py",
)
"""Tests that hold on every system, apart from those that say why they do not."""


def main(*arguments: str) -> None:
    """Install the wheels, and run pytest with some arguments.

    Raises:
        SystemExit: there are no wheels, a step failed, or a test did; the output says why.
    """
    dist = ROOT / "dist"
    if not any(dist.glob("mcp_lucene-*.whl")):
        sys.exit(f"there are no wheels in {dist}; run: make wheels")
    shutil.rmtree(FOLDER, ignore_errors=True)
    venv.create(FOLDER, with_pip=True)
    pip = (PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps")
    record = ("-p", "tests.recording", "--record", "`make installed`")
    whole = ("tests",) if sys.platform == "linux" else EVERYWHERE
    tests = arguments or (*record, *whole)
    steps: tuple[tuple[str | Path, ...], ...] = (
        (*pip, "--require-hashes", "-r", "requirements.txt"),
        (*pip, "--no-index", "--find-links", dist, "pylucene", "mcp-lucene"),
        (PYTHON, "-m", "shared.maintenance.train_startup"),
        (PYTHON, "-m", "pytest", *tests),
    )
    for command in steps:
        if done := subprocess.run(command, cwd=ROOT, check=False).returncode:
            sys.exit(done)


if __name__ == "__main__":
    main(*sys.argv[1:])
