"""What nobody has foreseen fails by itself: the server goes on, and everything else with it."""

import sys
from pathlib import Path

import pytest

from shared import Document
from tests.conftest import add_documents
from tests.server.raw_client import RawClient

_FAILING = """
from shared.reading.searcher import Searcher
def fail(self, *arguments, **options):
    from java.lang import Integer
    asked = str((arguments, options))
    if "lent" in asked:
        self._call(lambda backend: Integer.parseInt("no number"))
    if "called wrongly" in asked:
        self._call(lambda backend: backend._searcher.count(5))
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
    program = [sys.executable, "-c", _FAILING]
    with (tmp_path / "log").open("wb") as stderr:
        client = RawClient(filled, program=program, stderr=stderr)
        with client.process:
            assert "Begin with Search." in client.initialize()["result"]["instructions"]
            for query, told in [*FAILURES.items()] * 6:
                result = client.search(query)
                assert result["isError"]
                assert result["content"][0]["text"].startswith(told)
                # The same threads answer what does not fail.
                other = client.request("tools/call", name="ListDocuments", arguments={})
                assert other["result"]["structuredContent"]["total_documents"] == 1
            client.end()
            assert client.process.returncode == 0


@pytest.mark.soak
def test_a_log_that_nobody_reads_holds_up_no_answer(filled: Path) -> None:
    client = RawClient(filled, program=[sys.executable, "-c", _FAILING])
    with client.process:
        client.initialize()
        # A traceback each, which the pipe has room for a few of.
        for _ in range(100):
            assert client.search("text")["isError"]
        client.process.stdin.close()
        assert client.process.wait(timeout=10) == 0


def test_what_is_logged_does_not_steer_the_terminal(filled: Path) -> None:
    client = RawClient(filled, program=[sys.executable, "-c", _FAILING])
    with client.process:
        client.initialize()
        assert client.search("hostile")["isError"]
        _, log = client.end()
    lines = log.decode().splitlines()
    assert r"ValueError: hostile\x1b[2J\x0d\x7f\x9b2J\u202e" in lines
    # Java indents the lines of its stack by tabs.
    assert all(line.expandtabs().isprintable() for line in lines)
