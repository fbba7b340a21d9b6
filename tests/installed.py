"""Test the finished wheels in dist as they are installed: ``python -m tests.installed``.

The programs are those of the wheels, in an environment of their own in ``build/installed``, which
needs neither a compiler nor the sources of PyLucene. On Linux all tests run, elsewhere those that
hold on every system.
"""

import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
FOLDER: Final = ROOT / "build" / "installed"
PYTHON: Final = FOLDER / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")

_OF_IDX: Final = (
    *("crawl", "markup", "office", "text"),
    *("sync", "test_add_files.py", "test_commands.py", "test_created_index.py", "test_sync.py"),
)
_OF_SERVER: Final = (
    *("test_advice.py", "test_citations.py"),
    *("test_damaged_files.py", "test_explain.py", "test_failures.py"),
    *("test_freshness.py", "test_lists.py"),
    *("test_process.py", "test_prompts.py", "test_resources.py", "test_schemas.py"),
    *("test_start.py", "test_tools.py"),
)

EVERYWHERE: Final = (
    "tests/shared",
    *(f"tests/idx/{name}" for name in _OF_IDX),
    *(f"tests/server/{name}" for name in _OF_SERVER),
)
"""Tests that hold on every system, apart from those that say why they do not."""


_PACKAGES: Final = ("idx", "server", "shared")

_KEY: Final = """
from backend import wheel
print(wheel.key(wheel.Options()))
"""
"""A program that prints what the wheel for this system has in its description."""


def main(*arguments: str) -> None:
    """Install the wheels, and run pytest with some arguments."""
    dist = ROOT / "dist"
    projects = list(dist.glob("mcp_lucene-*.whl"))
    if not projects:
        sys.exit(f"there are no wheels in {dist}; run: make wheels")
    # Elsewhere the sources may have other ends of lines, and thereby another key.
    if sys.platform == "linux" and not (
        all(map(_has_these_files, projects))
        and any(map(_has_this_key, dist.glob("pylucene-*.whl")))
    ):
        sys.exit(f"the wheels in {dist} are made of other sources than these; run: make wheels")
    shutil.rmtree(FOLDER, ignore_errors=True)
    venv.create(FOLDER, with_pip=True)
    pip = (PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps")
    tests = arguments or (("tests",) if sys.platform == "linux" else EVERYWHERE)
    # pycld2 is taken from dist, like PyLucene.
    pins = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    listed = FOLDER / "requirements.txt"
    listed.write_text(re.sub(r"(?ms)^pycld2==.*?(?=^\S)", "", pins), encoding="utf-8")
    steps: tuple[tuple[str | Path, ...], ...] = (
        (*pip, "--require-hashes", "-r", listed),
        (*pip, "--no-index", "--find-links", dist, "pylucene", "pycld2", "mcp-lucene"),
        (PYTHON, "-m", "shared.maintenance.train_startup"),
        (PYTHON, "-m", "pytest", *tests),
    )
    # Programs that tests start import modules of tests, after those of the wheels.
    packages = next(FOLDER.glob("[Ll]ib/**/site-packages"))
    (packages / "tests.pth").write_text(f"{ROOT}\n", encoding="utf-8")
    for command in steps:
        if done := subprocess.run(command, cwd=ROOT, check=False).returncode:
            sys.exit(done)


def _has_these_files(wheel: Path) -> bool:
    sources = {
        file.relative_to(ROOT).as_posix(): file.read_bytes()
        for package in _PACKAGES
        for file in ROOT.joinpath(package).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    with zipfile.ZipFile(wheel) as packed:
        return sources == {
            name: packed.read(name)
            for name in packed.namelist()
            if name.partition("/")[0] in _PACKAGES
        }


def _has_this_key(wheel: Path) -> bool:
    key = (sys.executable, "-c", _KEY)
    wanted = subprocess.run(key, cwd=ROOT / "pylucene", stdout=subprocess.PIPE, check=True).stdout
    with zipfile.ZipFile(wheel) as packed:
        (name,) = (name for name in packed.namelist() if name.endswith(".dist-info/WHEEL"))
        return wanted.strip() in packed.read(name)


if __name__ == "__main__":
    main(*sys.argv[1:])
