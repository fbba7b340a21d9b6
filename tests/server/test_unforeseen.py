"""What nobody has foreseen fails by itself: the server goes on, and everything else with it."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared import Document, Index
from tests.server.raw_client import RawClient

_FAILING = """
import sys
failing = sys.argv.pop(1)
from shared.reading.searcher import Searcher
def fail(self, *arguments, **options):
    from java.lang import Integer
    if failing == "lent":
        self._call(lambda backend: Integer.parseInt("no number"))
    if failing == "called wrongly":
        self._call(lambda backend: backend._searcher.count(5))
    if failing == "invalid":
        from pydantic import TypeAdapter
        TypeAdapter(int).validate_python("no number")
    if failing == "hostile":
        raise ValueError("hostile\\x1b[2J\\r\\x7f\\x9b2J\\u202e")
    Integer.parseInt("no number")
Searcher.search = Searcher.statistics = fail
from server.__main__ import main
main()
"""
"""The server, in which a search and the state of the index fail, most of them inside Java."""


@pytest.fixture
def filled(empty_index: Path) -> Path:
    with Index(empty_index) as index:
        index.add(Document("a", "A", "some text"))
    return empty_index


@pytest.fixture
def client(request: pytest.FixtureRequest, filled: Path, tmp_path: Path) -> Iterator[RawClient]:
    program = [sys.executable, "-c", _FAILING, request.param]
    with (tmp_path / "log").open("wb") as stderr:
        client = RawClient(filled, program=program, stderr=stderr)
        with client.process:
            yield client
            client.process.kill()


@pytest.mark.parametrize(
    ("client", "told"),
    [
        ("lent", "Lucene failed with java.lang.NumberFormatException: For input string"),
        ("called wrongly", "Lucene was called wrongly"),
        # What is raised elsewhere than where the index is read is in the log.
        pytest.param("alone", "Error executing tool Search", marks=pytest.mark.soak),
        # What the tool made itself is no argument of the call.
        ("invalid", "Error executing tool Search"),
    ],
    indirect=["client"],
)
def test_an_unforeseen_exception_is_an_answer(client: RawClient, told: str) -> None:
    assert "Begin with Search." in client.initialize()["result"]["instructions"]
    for _ in range(6):
        result = client.search("text")
        assert result["isError"]
        assert result["content"][0]["text"].startswith(told)
        # The same threads answer what does not fail.
        other = client.request("tools/call", name="ListDocuments", arguments={})
        assert other["result"]["structuredContent"]["total_documents"] == 1
    client.end()
    assert client.process.returncode == 0


def test_a_log_that_nobody_reads_holds_up_no_answer(filled: Path) -> None:
    program = [sys.executable, "-c", _FAILING, "alone"]
    client = RawClient(filled, program=program)
    with client.process:
        client.initialize()
        # A traceback each, which the pipe has room for a few of.
        for _ in range(100):
            assert client.search("text")["isError"]
        assert client.process.stdin is not None
        client.process.stdin.close()
        assert client.process.wait(timeout=10) == 0


def test_what_is_logged_does_not_steer_the_terminal(filled: Path) -> None:
    client = RawClient(filled, program=[sys.executable, "-c", _FAILING, "hostile"])
    with client.process:
        client.initialize()
        assert client.search("text")["isError"]
        _, log = client.end()
    lines = log.decode().splitlines()
    assert r"ValueError: hostile\x1b[2J\x0d\x7f\x9b2J\u202e" in lines
    assert all(line.isprintable() for line in lines)
