"""A real `idx watch` for tests, and what is in the index that it keeps."""

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from shared import Hit, Searcher
from tests.programs import PROGRAMS, Started

PATIENCE: Final = 60.0
"""Seconds within which whatever is waited for happens also where other tests run."""

Contents = dict[str, str]  # the text of each document by id


class Watch:
    """A running `idx watch … --json`, whose events are read as they come.

    A context manager: leaving the block ends it with SIGTERM if it still runs.
    """

    def __init__(
        self,
        folder: Path,
        *arguments: object,
        prefix: tuple[str, ...] = (),
        environment: Mapping[str, str] | None = None,
        as_json: bool = True,
    ) -> None:
        self.index = folder / "lucene-index"
        self.lines: list[str] = []
        self.events: list[dict[str, Any]] = []
        self.errors: list[str] = []
        self._news = threading.Condition()
        self._as_json = as_json
        self._is_over = False
        json_ = ["--json"] if as_json else []
        self.process = Started(
            *(*prefix, PROGRAMS / "idx", "watch", *arguments, *json_),
            cwd=folder,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._readers = [
            threading.Thread(target=self._read_lines, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        code = 143 if self._is_over else self.end(signal.SIGTERM)
        if error is None:
            assert code == 143, self.errors
            assert "Traceback" not in (errors := "".join(self.errors)), errors

    def end(self, number: signal.Signals) -> int:
        """Send a signal to the whole group, as a terminal does; returns the exit code."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, number)
        return self.wait_for_end()

    def wait_for_end(self) -> int:
        code = self.process.wait(PATIENCE)
        for reader in self._readers:
            reader.join()
        for pipe in (self.process.stdout, self.process.stderr):
            pipe.close()
        self._is_over = True
        return code

    def until(self, is_so: Callable[[], object], what: object) -> None:
        """Wait until something holds, which is looked at after each event."""
        deadline = time.monotonic() + PATIENCE
        with self._news:
            while not is_so():
                left = deadline - time.monotonic()
                wanted = what() if callable(what) else what
                assert left > 0, f"{wanted}: {self.events[-9:]} {self.errors[-9:]}"
                assert self.process.poll() is None, f"{wanted}: ended, {self.errors[-9:]}"
                self._news.wait(min(left, 1))

    def until_event(self, name: str, count: int = 1, **fields: object) -> dict[str, Any]:
        """Wait for an event, or so many of them; returns the last one."""

        def matching() -> list[dict[str, Any]]:
            wanted = {"event": name, **fields}
            return [event for event in self.events if wanted.items() <= event.items()]

        self.until(lambda: len(matching()) >= count, f"{count} {name} {fields}")
        return matching()[count - 1]

    def until_error(self, text: str) -> None:
        self.until(lambda: any(text in line for line in self.errors), text)

    def until_texts(self, expected: Contents, prefix: str = "") -> None:
        """Wait until the documents whose ids begin with the prefix have exactly these texts."""
        self.until(
            lambda: texts(self.index, prefix) == expected,
            lambda: (texts(self.index, prefix), expected),
        )

    def _read_lines(self) -> None:
        for line in self.process.stdout:
            with self._news:
                self.lines.append(line)
                if self._as_json:
                    self.events.append(json.loads(line))
                self._news.notify_all()

    def _read_errors(self) -> None:
        for line in self.process.stderr:
            with self._news:
                self.errors.append(line)
                self._news.notify_all()


def chunks(index: Path, prefix: str = "") -> dict[str, Hit]:
    """Every chunk by id, with everything but the time of indexing."""
    with Searcher(index) as searcher:
        found = searcher.search("", limit=100_000).results
    return {
        hit.id: replace(
            hit, metadata={name: value for name, value in hit.metadata.items() if name != "indexed"}
        )
        for hit in found
        if hit.source_document.startswith(prefix)
    }


def texts(index: Path, prefix: str = "") -> Contents:
    """The text of each document of a single chunk, by its id behind the prefix."""
    return {
        hit.source_document.removeprefix(prefix): hit.content or ""
        for hit in chunks(index, prefix).values()
    }
