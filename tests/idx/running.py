"""A sync that runs in the background, in a session of its own."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

from tests.programs import Started

IDX: Final = """
import idx.sync.ingestion
from idx.__main__ import main
idx.sync.ingestion.SECONDS_BETWEEN_COMMITS = {}
main()
"""


def start(
    folder: Path, *arguments: object, program: str = IDX.format(60), **options: Any
) -> Started:
    """Start a sync of the folder `papers` with one reader, in a session of its own."""
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    return Started(
        *(sys.executable, "-c", program, "sync", "papers", "--workers", "1", *arguments),
        cwd=folder,
        start_new_session=True,
        **(streams | options),
    )


def session(leader: int) -> dict[int, int]:
    """The processes of a session that live, with the processor time they took, in ticks."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            fields = (process / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        state, _, _, its_session = fields[:4]
        if int(its_session) == leader and state != "Z":
            found[int(process.name)] = int(fields[11]) + int(fields[12])
    return found


def assert_ends(leader: int) -> None:
    """Every process of a session must end soon."""
    deadline = time.monotonic() + 5
    while living := session(leader):
        assert time.monotonic() < deadline, living
        time.sleep(0.05)
