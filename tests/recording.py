"""Records of test runs, and the table of platforms that is made of them.

``pytest -p tests.recording --record HOW`` writes into ``docs/measured/platforms.json`` how many
tests passed, were skipped and failed, on which system, and the table of ``docs/install.md`` anew.
``python -m tests.recording`` writes the table only.
"""

import json
import platform
import re
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final, TypedDict

import pytest

ROOT: Final = Path(__file__).parents[1]
RECORDS: Final = ROOT / "docs" / "measured" / "platforms.json"
PAGE: Final = ROOT / "docs" / "install.md"

_TABLE: Final = re.compile(r"(?<=<!-- platforms -->\n).*?(?=<!-- end of platforms -->)", re.DOTALL)

_PLATFORMS: Final = {
    ("Linux", "x86_64"): "Linux, x86-64",
    ("Linux", "aarch64"): "Linux, 64-bit Arm",
    ("Windows", "AMD64"): "Windows, x86-64",
    ("Darwin", "arm64"): "macOS, Apple silicon",
    ("Darwin", "x86_64"): "macOS, x86-64",
}
"""The platforms of the wheels, by system and processor as Python names them."""


class Record(TypedDict):
    """A run of tests."""

    system: str
    processor: str
    python: str
    how: str
    date: str
    version: str
    passed: int
    skipped: int
    failed: int


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", metavar="HOW", help="record the outcome, and how it came about")


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    def count(*outcomes: str) -> int:
        return sum(len(terminalreporter.stats.get(outcome, ())) for outcome in outcomes)

    if how := config.getoption("--record"):
        write(
            Record(
                system=platform.system(),
                processor=platform.machine(),
                python=platform.python_version(),
                how=how,
                date=datetime.now(UTC).date().isoformat(),
                version=version("mcp-lucene"),
                passed=count("passed", "xfailed"),
                skipped=count("skipped"),
                failed=count("failed", "error", "xpassed"),
            )
        )


def read() -> list[Record]:
    """Read the records."""
    records: list[Record] = json.loads(RECORDS.read_text("utf-8"))
    return records


def write(record: Record) -> None:
    """Keep a record in place of the one of the same command on the same system and Python."""
    kept = {_subject(each): each for each in (read() if RECORDS.exists() else [])}
    kept[_subject(record)] = record
    lines = ",\n".join(json.dumps(kept[subject]) for subject in sorted(kept))
    RECORDS.write_text(f"[\n{lines}\n]\n", "utf-8", newline="\n")
    PAGE.write_text(page(), "utf-8", newline="\n")


def table() -> str:
    """Return the table of platforms, in Markdown."""
    lines = [
        "| platform | CPython | tried by | passed | skipped | failed | on |",
        "|---|---|---|---|---|---|---|",
    ]
    records = read()
    for (system, processor), name in _PLATFORMS.items():
        runs = [run for run in records if (run["system"], run["processor"]) == (system, processor)]
        lines += [
            f"| {name} | {run['python']} | {run['how']} | {run['passed']:,} | {run['skipped']:,} "
            f"| {run['failed']:,} | {run['date']} |"
            for run in runs
        ]
        if not runs:
            lines.append(f"| {name} | | **never run**; its files are checked | | | | |")
    return "\n".join(lines) + "\n"


def page() -> str:
    """Return the page of installation with the table of the records."""
    made, count = _TABLE.subn(lambda _: table(), PAGE.read_text("utf-8"))
    assert count == 1, f"{PAGE} has no place for the table"
    return made


def _subject(record: Record) -> tuple[str, str, str, str]:
    minor = ".".join(record["python"].split(".")[:2])
    return record["system"], record["processor"], minor, record["how"]


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8", newline="\n")
