"""What people see on a terminal, and what stays out of a pipe."""

import os
import pty
import re
import subprocess
from pathlib import Path

import pytest

from shared import Document, Index
from tests.conftest import PROGRAMS


def on_a_terminal(*arguments: str | Path, stdin: bytes = b"") -> str:
    """Everything that `idx` writes to a terminal of 80 columns."""
    terminal, end = pty.openpty()
    with subprocess.Popen(
        [PROGRAMS / "idx", *arguments],
        stdin=subprocess.PIPE,
        stdout=end,
        stderr=end,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "80"},
    ) as process:
        os.close(end)
        assert process.stdin is not None
        process.stdin.write(stdin)
        process.stdin.close()
        written = b""
        while True:
            try:
                part = os.read(terminal, 65536)
            except OSError:  # the terminal's other end is closed
                break
            written += part
            if not part:
                break
    os.close(terminal)
    return written.decode()


@pytest.fixture
def filled_index(empty_index: Path) -> Path:
    with Index(empty_index) as index:
        index.add(Document("menu", "Menu", "Café au lait"))
    return empty_index


def test_matches_are_coloured_and_not_marked(filled_index: Path) -> None:
    shown = on_a_terminal("search", "cafe", "-i", filled_index)
    assert "\x1b[1;33mCafé\x1b[0m" in shown
    assert "**" not in shown


def test_no_colour_is_honoured(filled_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[1;33m" not in on_a_terminal("search", "cafe", "-i", filled_index)


def test_a_bulk_run_shows_how_far_it_is(empty_index: Path) -> None:
    lines = b"".join(b'{"Id": "%d", "Title": "T", "Content": "x"}\n' % n for n in range(3000))
    shown = on_a_terminal("bulk", "-j", "-", "-i", empty_index, stdin=lines)
    assert "entries" in shown
    assert "Successfully added 3000 documents" in shown


def test_tables_fit_the_terminal(filled_index: Path) -> None:
    with Index(filled_index) as index:
        index.add(Document("long" * 50, "T" * 200, "text"))
    shown = re.sub(r"\x1b\[[0-9;]*m|\r", "", on_a_terminal("list", "-i", filled_index))
    assert max(map(len, shown.splitlines())) <= 80
