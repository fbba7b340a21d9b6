"""What nobody has foreseen fails by itself, and nothing waits for a log that nobody reads."""

import sys
from functools import partial
from pathlib import Path

import pytest

from shared import Document
from tests.conftest import add_documents
from tests.programs import Started, run
from tests.server.raw_client import RawClient

_FAILING = """
from shared.reading.searcher import Searcher
def fail(self, *arguments, **options):
    from java.lang import Integer
    asked = str((arguments, options))
    if "lent" in asked:
        self._call(lambda backend: Integer.parseInt("no number"))
    if "called wrongly" in asked:
        self._call(lambda backend: backend.searcher.count(5))
    if "invalid" in asked:
        from pydantic import TypeAdapter
        TypeAdapter(int).validate_python("no number")
    if "hostile" in asked:
        raise ValueError("hostile\\x1b[2J\\r\\x7f\\x9b2J\\u202e")
    Integer.parseInt("no number")
def fail_alone(self):
    from java.lang import Integer
    Integer.parseInt("no number")
Searcher.search, Searcher.statistics = fail, fail_alone
from server.__main__ import main
main()
"""
"""The server, in which the state of the index fails, and a search as its query says."""

failing = partial(RawClient, program=[sys.executable, "-c", _FAILING])


@pytest.fixture
def filled(empty_index: Path) -> Path:
    add_documents(empty_index, Document("a", "A", "some text"))
    return empty_index


FAILURES = {
    "lent": "Lucene failed with java.lang.NumberFormatException: For input string",
    "called wrongly": "Lucene was called wrongly",
    # What is raised elsewhere than where the index is read is in the log.
    "alone": "Error executing tool Search",
    # What the tool made itself is no argument of the call.
    "invalid": "Error executing tool Search",
}


def test_an_unforeseen_exception_is_an_answer(filled: Path, tmp_path: Path) -> None:
    with (tmp_path / "log").open("wb") as stderr, failing(filled, stderr=stderr) as client:
        assert "Begin with Search." in client.initialize()["result"]["instructions"]
        for query, told in [*FAILURES.items()] * 6:
            result = client.search(query)
            assert result["isError"]
            assert result["content"][0]["text"].startswith(told)
            # The same threads answer what does not fail.
            listed = client.call("ListDocuments")["structuredContent"]
            assert listed["total_documents"] == 1
        client.end()
        assert client.process.returncode == 0


@pytest.mark.soak
def test_a_log_that_nobody_reads_holds_up_no_answer(filled: Path) -> None:
    with failing(filled) as client:
        client.initialize()
        # A traceback each, which the pipe has room for a few of.
        for _ in range(100):
            assert client.search("text")["isError"]
        client.process.stdin.close()
        assert client.process.wait(timeout=10) == 0


def test_what_is_logged_does_not_steer_the_terminal(filled: Path) -> None:
    with failing(filled) as client:
        client.initialize()
        assert client.search("hostile")["isError"]
        _, log = client.end()
    lines = log.decode().splitlines()
    assert r"ValueError: hostile\x1b[2J\x0d\x7f\x9b2J\u202e" in lines
    # Java indents the lines of its stack by tabs.
    assert all(line.expandtabs().isprintable() for line in lines)


LOGS = """
import gc, logging
from server.log import log_over_stdio
log_over_stdio()
log = logging.getLogger("some.library")
"""

LOGS_WHILE_IT_LOGS = """
class Noisy:
    def __init__(self):
        self.itself = self
    def __del__(self):
        log.warning("collected")
gc.set_threshold(1)
for number in range(3_000):
    Noisy()
    log.warning(f"line {number} " + "x" * 100)
"""
"""Garbage is collected anywhere, and what is collected may log."""

IS_LOUD = """
for number in range(200):
    log.warning("x" * 1_000_000)
size = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(size[0].split()[1], flush=True)
"""

ENDS = """
import os
from server.log import drain_stderr
drain_stderr()
os._exit(0)
"""
"""The end of the server, which waits for no thread."""


@pytest.mark.parametrize("script", [LOGS_WHILE_IT_LOGS, IS_LOUD])
def test_a_process_whose_log_nobody_reads_ends(script: str) -> None:
    with Started(sys.executable, "-c", LOGS + script + ENDS) as process:
        try:
            assert process.wait(timeout=30) == 0
        finally:
            process.kill()
        if script is IS_LOUD:
            assert int(process.stdout.read()) < 100_000


def test_what_was_logged_is_written_before_the_end() -> None:
    script = "log.warning('a \\x1b[2J bell')\nimport warnings; warnings.warn('old', stacklevel=1)"
    done = run(sys.executable, "-c", LOGS + script)
    first, second = done.stderr.splitlines()
    assert first == r"WARNING a \x1b[2J bell"
    assert second.startswith("WARNING <string>:")
    assert second.endswith("UserWarning: old")
