"""What people type every day, each with the text that answers it, in one index of all texts."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from mcp import Client

from tests.conftest import connected
from tests.programs import run_idx
from tests.server.tool_answers import answer

HERE: Final = Path(__file__).parent

FIRST_HITS: Final = 3
"""Number of hits among which the wanted text must be."""

OTHERS: Final = ("de", "en-house", "es", "fr", "ja", "ru", "zh")
"""Documents of other tests that stand in the same index."""


@dataclass(frozen=True)
class Case:
    """A query and what it must find."""

    kind: str
    query: str
    want: str
    texts: dict[str, str]
    absent: list[str]

    def __str__(self) -> str:
        return f"{self.kind}: {self.query}"


CASES: Final = [
    Case(**json.loads(line)) for line in (HERE / "everyday.jsonl").read_text("utf-8").splitlines()
]


@pytest.fixture(scope="module", params=["off", pytest.param("now", marks=pytest.mark.soak)])
def index(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index by words, and one with the vectors that it has by default."""
    if request.param == "now":
        request.getfixturevalue("semantic")
    path = tmp_path_factory.mktemp("everyday") / "lucene-index"
    texts = {name: text for case in CASES for name, text in case.texts.items()}
    entries = [
        json.dumps({"Id": name, "Title": f"note {number}", "Content": text})
        for number, (name, text) in enumerate(texts.items())
    ]
    entries += [
        line
        for name in OTHERS
        for line in (HERE / "documents" / f"{name}.jsonl").read_text("utf-8").splitlines()
    ]
    command = ["bulk", "-j", "-", "-i", path, "--vectors", request.param]
    done = run_idx(command, path.parent, "\n".join(entries))
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture(scope="module")
async def client(index: Path) -> AsyncIterator[Client]:
    async with connected(index) as client:
        yield client


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_an_everyday_query_finds_the_text_that_answers_it(client: Client, case: Case) -> None:
    found = answer(await client.call_tool("Search", {"query": case.query, "limit": 20}))
    hits = [hit["source_document"] for hit in found["results"]]
    own = [name for name in hits if name in case.texts]
    assert case.want in hits[:FIRST_HITS], hits
    assert own[0] == case.want, hits
    if case.absent:
        # The meaning of another text may be near.
        words = {"query": case.query, "limit": 20, "search": "words"}
        by_words = answer(await client.call_tool("Search", words))
        assert not {*case.absent} & {hit["source_document"] for hit in by_words["results"]}
