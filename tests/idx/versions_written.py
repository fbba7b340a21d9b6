"""Writers of versions, each of documents of its own, that are killed now and then.

Each is driven by a thread of the test, and is a real process that waits for the lock of the other.
"""

import json
import random
import subprocess
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests.programs import PROGRAMS, Started
from tests.tools.versions import documents

_LIBRARY: Final = """
import json, sys
from shared import Document, Index
for line in sys.stdin:
    entries = json.loads(line)
    try:
        with Index(sys.argv[1], wait=120) as index:
            # Nobody ever sees what is taken back.
            index.delete_documents(entry["Id"] for entry in entries)
            if len(entries) % 2:
                index.add(Document(entries[0]["Id"], "Nothing", "stamp nothing"))
                raise InterruptedError
            for entry in entries:
                index.add(Document(entry["Id"], entry["Title"], entry["Content"]))
    except InterruptedError:
        pass
    print("done", flush=True)
"""
"""Writes lists of documents; one of odd length is taken back."""

_SHARE_KILLED: Final = 0.2
_SHARE_TAKEN_BACK: Final = 0.2
_LONGEST_LIFE: Final = 1.0  # seconds after which a process that is killed is killed at the latest

_LONGEST_PAUSE: Final = 0.3
"""Seconds between two versions; without it, the one that has the lock mostly keeps it."""


class Writer(ABC):
    """Writes one version after the other, until it is told to stop."""

    def __init__(self, index: Path, prefix: str) -> None:
        self.prefix = prefix
        self.committed = 0
        self.killed = 0
        self._index = index
        # Reproducible as far as processes are, and not secret.
        self._random = random.Random(prefix)  # noqa: S311

    def run(self, stop: threading.Event) -> None:
        while not stop.is_set():
            if self._random.random() < _SHARE_KILLED:
                # Whether it committed nobody knows; the same version is written again.
                self._kill(self._entries(), self._random.uniform(0, _LONGEST_LIFE))
                self.killed += 1
            self.write()
            # The lock goes to whoever asks when it is free, and `idx` asks 20 times a second.
            stop.wait(self._random.uniform(0, _LONGEST_PAUSE))

    def write(self) -> None:
        self._write(self._entries())
        self.committed += 1

    @abstractmethod
    def close(self) -> None:
        """End what it has started."""

    def _entries(self) -> list[dict[str, str]]:
        return [
            {"Id": f"{self.prefix}{name}", "Title": title, "Content": text}
            for name, title, text in documents(self.committed + 1)
        ]

    @abstractmethod
    def _write(self, entries: list[dict[str, str]]) -> None:
        """Write documents and commit."""

    @abstractmethod
    def _kill(self, entries: list[dict[str, str]], seconds: float) -> None:
        """The same, killed after some time."""


class IdxWriter(Writer):
    """Runs `idx bulk` for each version."""

    def close(self) -> None:
        """Nothing: each run has ended before the next one."""

    def _write(self, entries: list[dict[str, str]]) -> None:
        process, lines = self._start(entries)
        _, told = process.communicate(lines, timeout=240)
        assert process.returncode == 0, told

    def _kill(self, entries: list[dict[str, str]], seconds: float) -> None:
        process, lines = self._start(entries)
        timer = threading.Timer(seconds, process.kill)
        timer.start()
        process.communicate(lines)
        timer.cancel()

    def _start(self, entries: list[dict[str, str]]) -> tuple[Any, str]:
        process = Started(
            *(PROGRAMS / "idx", "bulk", "-j", "-", "-i", self._index, "--wait", "120"),
            stdout=subprocess.DEVNULL,
        )
        return process, "\n".join(map(json.dumps, entries))


class LibraryWriter(Writer):
    """Has a process of its own open the index, write a version and close it."""

    def __init__(self, index: Path, prefix: str) -> None:
        super().__init__(index, prefix)
        self._process = self._start()

    def close(self) -> None:
        self._process.communicate()

    def _write(self, entries: list[dict[str, str]]) -> None:
        if self._random.random() < _SHARE_TAKEN_BACK:
            assert self._answers(entries[:3])
        assert self._answers(entries)

    def _kill(self, entries: list[dict[str, str]], seconds: float) -> None:
        timer = threading.Timer(seconds, self._process.kill)
        timer.start()
        while self._answers(entries):
            pass
        timer.join()
        self._process.communicate()
        self._process = self._start()

    def _start(self) -> Any:
        return Started(sys.executable, "-c", _LIBRARY, self._index)

    def _answers(self, entries: list[dict[str, str]]) -> bool:
        try:
            self._process.stdin.write(json.dumps(entries) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return False
        return bool(self._process.stdout.readline() == "done\n")


def writers(index: Path) -> Iterator[Writer]:
    """One of each kind, with documents of their own."""
    yield LibraryWriter(index, "library-")
    yield IdxWriter(index, "idx-")
