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
        with self._newest() as snapshot:
            Integer.parseInt("no number")
    if failing == "called wrongly":
        with self._newest() as snapshot:
            snapshot.searcher.count(5)
    if failing == "invalid":
        from pydantic import TypeAdapter
        TypeAdapter(int).validate_python("no number")
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
        ("alone", "Error executing tool Search"),
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
