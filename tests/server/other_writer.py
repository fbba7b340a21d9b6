"""Another process that writes: faster than a run of `idx` for each document, and as real."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.programs import Started

Add = Callable[[str, str], None]

_PROGRAM: Final = """
import json, sys
from shared import Document, Index
for line in sys.stdin:
    name, text = json.loads(line)
    with Index(sys.argv[1]) as index:
        index.add(Document(name, "Title", text))
    print("committed", flush=True)
"""


@contextmanager
def other_writer(index_path: Path) -> Iterator[Add]:
    """Start the process; what it yields has it open the index, add a document, and close it."""
    # Nobody reads its stderr, which Java fills with its warnings under Wine.
    with Started(sys.executable, "-c", _PROGRAM, index_path, stderr=None) as process:

        def add(name: str, text: str) -> None:
            process.stdin.write(json.dumps([name, text]) + "\n")
            process.stdin.flush()
            assert process.stdout.readline() == "committed\n"

        yield add
    assert process.returncode == 0
