"""Two writers and eight readers for ten minutes, on a real disk: nothing is lost, torn or stale.

The writers write versions of documents of their own, and are killed now and then. The readers are
servers, processes with a searcher, and a run of `idx` for each search, and look for mistakes:
errors, stale and torn answers. Each is driven by a thread of the test.
"""

import json
import os
import random
import subprocess
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any, Final

import pytest

from shared import Searcher
from tests.conftest import Idx
from tests.programs import PROGRAMS, Started, run
from tests.server.raw_client import RawClient
from tests.tools.versions import QUERY, documents, mistake

SECONDS = float(os.environ.get("SECONDS_OF_WRITERS_AND_READERS", "600"))
"""How long they work; the variable shortens it for whoever works on this test."""

pytestmark = [pytest.mark.soak, pytest.mark.timeout(SECONDS + 600)]

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


Search = Callable[[str], dict[str, Any]]
"""Searches for the stamp in the documents whose ids begin so."""

_SEARCHER: Final = """
import json, sys
from shared import Filter, Searcher
from shared.model.search_results import plain
with Searcher(sys.argv[1], program="server") as searcher:
    for line in sys.stdin:
        of = Filter("source_document", "prefix", line.rstrip("\\n"))
        print(json.dumps(plain(searcher.search(sys.argv[2], limit=20, filters=[of]))), flush=True)
"""


class Reader:
    """Searches for the documents of writers in turns."""

    def __init__(self, name: str, search: Search) -> None:
        self.checked = 0
        self.mistakes: list[str] = []
        self._name = name
        self._search = search
        self._seen: dict[str, int] = {}

    def read(self, writer: Writer) -> None:
        """Search once, for what is not older than the last commit, nor than what was seen."""
        least = max(writer.committed, self._seen.get(writer.prefix, 0))
        try:
            answer = self._search(writer.prefix)
        except (AssertionError, ValueError, OSError) as error:
            self.mistakes.append(f"{self._name}: {error}")
            return
        self.checked += 1
        if found := mistake(answer, least):
            self.mistakes.append(f"{self._name}: {found}")
        else:
            self._seen[writer.prefix] = int(answer["results"][0]["title"].split()[1])


@contextmanager
def readers(index: Path) -> Iterator[list[Reader]]:
    """Eight of them, within a block."""
    with ExitStack() as opened:
        yield [
            *(Reader(f"server {n}", opened.enter_context(_server(index))) for n in range(3)),
            *(Reader(f"searcher {n}", opened.enter_context(_searcher(index))) for n in range(3)),
            *(Reader(f"idx {n}", _idx(index)) for n in range(2)),
        ]


@contextmanager
def _server(index: Path) -> Iterator[Search]:
    client = RawClient(index, stderr=subprocess.DEVNULL)
    with client.process:
        client.initialize()

        def search(prefix: str) -> dict[str, Any]:
            of = {"field": "source_document", "operator": "prefix", "value": prefix}
            arguments = QUERY | {"filters": [of]}
            result = client.request("tools/call", name="Search", arguments=arguments)["result"]
            assert not result["isError"], result["content"]
            answer: dict[str, Any] = result["structuredContent"]
            return answer

        yield search
        client.end()
    assert client.process.returncode == 0


@contextmanager
def _searcher(index: Path) -> Iterator[Search]:
    with Started(sys.executable, "-c", _SEARCHER, index, QUERY["query"]) as process:

        def search(prefix: str) -> dict[str, Any]:
            process.stdin.write(f"{prefix}\n")
            process.stdin.flush()
            answer: dict[str, Any] = json.loads(process.stdout.readline())
            return answer

        yield search
    assert process.returncode == 0


def _idx(index: Path) -> Search:
    def search(prefix: str) -> dict[str, Any]:
        options = ["--json", "--limit", "20", "--filter", f"source_document^={prefix}"]
        done = run(
            *(PROGRAMS / "idx", "search", QUERY["query"], *options, "-i", index),
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    return search


def read_until(stop: threading.Event, reader: Reader, of: list[Writer]) -> None:
    for writer in cycle(of):
        if stop.is_set():
            return
        reader.read(writer)


def test_whatever_happens_each_reader_sees_whole_versions_in_order(
    idx: Idx, empty_index: Path
) -> None:
    stop = threading.Event()
    two = list(writers(empty_index))
    for writer in two:
        writer.write()
    with readers(empty_index) as eight, ThreadPoolExecutor(len(two) + len(eight)) as threads:
        running = [
            *(threads.submit(writer.run, stop) for writer in two),
            *(threads.submit(read_until, stop, reader, two) for reader in eight),
        ]
        stop.wait(SECONDS)
        stop.set()
        for work in running:
            work.result()
        for reader in eight:
            for writer in two:
                reader.read(writer)
        assert [mistake for reader in eight for mistake in reader.mistakes] == []
        assert min(reader.checked for reader in eight) > SECONDS / 60
    for writer in two:
        writer.close()
        assert writer.committed > SECONDS / 60
        assert writer.killed > SECONDS / 300
    with Searcher(empty_index) as searcher:
        names = {found.source_document for found in searcher.documents().documents}
    assert names == {
        f"{writer.prefix}{name}"
        for writer in two
        for name, _, text in documents(writer.committed)
        if text
    }
    assert "sound" in idx("check").stdout
