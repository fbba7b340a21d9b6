"""`idx doctor` where something of the installation is missing or broken."""

import json
import os
import sys
from pathlib import Path

import pytest

from shared.installation import extra_command
from tests.programs import PROGRAMS, run
from tests.systems import has_modes

pytestmark = pytest.mark.soak

BEFORE = {
    "another system": "import platform; platform.system = lambda: 'Darwin'",
    "no cache": (
        "from shared.java import startup_cache as c; c.path = lambda: Path('nothing.aot'); "
        "c.train_in_background = lambda: None"
    ),
    "no extra": (
        "import importlib.metadata as m; "
        "m.requires = lambda _: ['nothing-at-all>=1; extra == \"evaluation\"']"
    ),
    "other programs": (
        "import sys, sysconfig; sys.executable = 'programs/python'; "
        "sysconfig.get_path = lambda *_: 'programs'"
    ),
    "little patience": "import idx.commands.doctor as s; s.SERVER_TIMEOUT_SECONDS = 3",
}
"""What makes one thing look broken that no test may break for the others."""


def found(folder: Path, *broken: str, **environment: str) -> dict[str, tuple[str, str]]:
    lines = ["from pathlib import Path", *(BEFORE[name] for name in broken)]
    script = "\n".join([*lines, "from idx.__main__ import main", "main()"])
    done = run(
        *(sys.executable, "-c", script, "doctor", "--json"),
        cwd=folder,
        env={**os.environ, **environment},
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    told: dict[str, tuple[str, str]] = {}
    for each in json.loads(done.stdout)["findings"]:
        # There are several extras.
        _, before = told.get(each["check"], ("", ""))
        told[each["check"]] = (each["status"], before + each["message"])
    return told


def program(folder: Path, text: str) -> Path:
    """The only `mcp-lucene` of an installation."""
    file = folder / "programs" / "mcp-lucene"
    file.parent.mkdir()
    file.write_text(text)
    file.chmod(0o755)
    return file


def test_another_system_a_missing_cache_extra_and_server_are_told(
    home: Path, empty_index: Path
) -> None:
    findings = found(home, "another system", "no cache", "no extra", "other programs")
    status, message = findings["Python"]
    assert (status, "on Darwin" in message) == ("warning", True)
    status, message = findings["Start-up cache"]
    assert (status, "python -m shared.maintenance.train_startup" in message) == ("warning", True)
    status, message = findings["Extra"]
    assert (status, extra_command("evaluation") in message) == ("ok", True)
    status, message = findings["Programs"]
    expected = "there is no program mcp-lucene in programs; install mcp-lucene again"
    assert (status, message) == ("problem", expected)
    assert "Server" not in findings


def test_a_pylucene_that_cannot_be_loaded_is_told(home: Path) -> None:
    package = home / "broken" / "lucene"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('libjvm.so: not found')")
    path = f"{package.parent}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    findings = found(home, PYTHONPATH=path)
    status, message = findings["Lucene"]
    assert status == "problem"
    assert message.startswith(
        "Lucene cannot be loaded: libjvm.so: not found; install it again: pip install --"
    )
    assert {"Java", "Index", "Server"}.isdisjoint(findings)
    assert findings["Clients"][0] == "warning"


@has_modes
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("#!/bin/sh\necho starting >&2\necho 'no module named x' >&2\nexit 3\n", "no module nam"),
        ("#!/no/such/interpreter\n", "No such file or directory"),
        ("#!/bin/sh\nsleep 100\n", "it took more than 3 s"),
        (f"#!/bin/sh\nexec {PROGRAMS}/mcp-lucene /no/index\n", "it answered: there is no index"),
    ],
)
def test_a_server_that_cannot_be_asked_is_told(
    home: Path, empty_index: Path, text: str, words: str
) -> None:
    file = program(home, text)
    patience = ["little patience"] if "took more" in words else []
    status, message = found(home, "other programs", *patience)["Server"]
    assert status == "problem"
    assert words in message
    if "answered" not in words:
        assert message.startswith(f"{file} {empty_index} cannot be asked: ")
        assert message.endswith("; start it in a terminal to see more")
