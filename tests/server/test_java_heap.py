"""A heap of Java that is too small for some calls: the server says so, and answers the others."""

import os
from pathlib import Path

import pytest

from shared import Document, Index
from tests.programs import PROGRAMS, run
from tests.server.raw_client import RawClient

TOO_LARGE = (
    "the 16 MiB of memory that Java may use are too small for work on the index at {}; ask "
    "for less at once, or ask the user to allow more with IDX_JAVA_HEAP or the setting java_heap"
)


@pytest.mark.soak
def test_calls_that_need_more_fail_by_themselves(
    empty_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Index(empty_index) as index:
        index.add(Document("large", "Large", "lease " + "x" * 9_000_000))
        index.add(Document("little", "Little", "little text"))
    monkeypatch.setenv("IDX_JAVA_HEAP", "16")
    client = RawClient(empty_index)
    with client.process:
        client.initialize()
        search = {"name": "Search", "arguments": {"query": "lease"}}
        asked = range(12)
        for number in asked:
            client.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": search})
        answers = [client.receive() for _ in asked]
        assert {answer["id"] for answer in answers} == set(asked)
        for answer in answers:
            (content,) = answer["result"]["content"]
            assert content["text"] == TOO_LARGE.format(empty_index)
        assert client.search("little")["structuredContent"]["totalHits"] == 1
        assert client.end() == (b"", b"")
    assert client.process.returncode == 0


def test_a_wrong_size_ends_the_server_before_a_client_waits(empty_index: Path) -> None:
    done = run(
        PROGRAMS / "mcp-lucene",
        empty_index,
        env=os.environ | {"IDX_JAVA_HEAP": "much"},
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: the environment: IDX_JAVA_HEAP: the value should be a ")
