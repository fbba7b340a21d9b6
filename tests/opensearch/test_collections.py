"""Collections of an index on a cluster, and what a client sees that is limited to them."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared import Index, Searcher, create
from shared.errors import DocumentNotFoundError
from shared.model.filters import as_collection
from shared.settings.model import CollectionSetting
from tests.conftest import Idx
from tests.opensearch.node import Node
from tests.server.http.access.test_collections import (
    ALL_TOOLS,
    PATHS,
    TOKENS,
    check_path,
    check_tools,
    collections,
    index_samples,
)
from tests.server.http.served import Served, served
from tests.shared.reading.test_parts import (
    COLLECTIONS,
    OPEN,
    QUESTIONS,
    SECRET,
    check_question,
    part_and_alone,
    with_access,
)

pytestmark = pytest.mark.opensearch


@pytest.fixture(scope="module")
def searchers(node: Node) -> Iterator[tuple[Searcher, Searcher]]:
    with part_and_alone(f"{node.address}/part-of", f"{node.address}/alone") as both:
        yield both


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_part_answers_as_an_index_of_its_own(
    searchers: tuple[Searcher, Searcher], question: str
) -> None:
    check_question(searchers, question)


def test_limits_of_limits_are_what_both_allow(searchers: tuple[Searcher, Searcher]) -> None:
    part, _ = searchers
    both = part.within(["recent", "closed"])
    assert [summary.source_document for summary in both.documents().documents] == ["recipe"]
    assert list(both.collections) == []


def test_a_part_sees_every_commit(node: Node) -> None:
    address = f"{node.address}/parts-afresh"
    create(address)
    with Searcher(address, collections=COLLECTIONS) as whole:
        part = whole.within(["open"])
        assert part.documents().total_documents == 0
        before = part.commit()
        with Index(address) as index:
            index.add(with_access(OPEN[0], "all"))
            index.add(with_access(SECRET[0], "few"))
        assert part.search("rent").totalHits == part.statistics().chunks
        assert part.documents().total_documents == 1
        assert part.commit() not in (before, whole.commit())
        with Index(address) as index:
            index.add(with_access(OPEN[0], "few"))
        with pytest.raises(DocumentNotFoundError):
            part.document_chunks("lease")
        assert whole.documents(collection="closed").total_documents == 2


def test_the_command_lists_a_collection(idx: Idx, node: Node, tmp_path: Path) -> None:
    address = f"{node.address}/listed-by-collection"
    for name in ("in", "out"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.txt").write_text(f"words that are {name}")
        idx("sync", "-i", address, str(tmp_path / name))
    idx("collections", "add", "inner", "--folder", str(tmp_path / "in"))
    listed = idx("list", "-i", address, "--collection", "inner").stdout
    assert "in.txt" in listed
    assert "out.txt" not in listed
    refused = idx("list", "-i", address, "--collection", "iner", code=1)
    assert "did you mean 'inner'" in refused.stderr


@pytest.fixture(scope="module")
def guarded(node: Node, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("collections")
    index = Path(f"{node.address}/guarded")
    index_samples(folder, index)
    variables = {"IDX_COLLECTIONS": json.dumps(collections(folder))}
    with served(index, *ALL_TOOLS, tokens=TOKENS, environment=variables) as running:
        yield running


def test_files_and_folders_of_the_rest_are_not_seen(guarded: Served, node: Node) -> None:
    with Searcher(f"{node.address}/guarded", collections=COLLECTIONS) as anybody:
        (folder,) = {entry.path.parent for entry in anybody.folders()}
    within = [as_collection(CollectionSetting(**of)) for of in collections(folder)]
    with Searcher(f"{node.address}/guarded", collections=within) as whole:
        part = whole.within(["open"])
        assert len(whole.files()[1]) == 4
        assert sorted(part.files()[1]) == ["lease-garden-flat.txt", "mietvertrag-werkstatt.txt"]
        assert [entry.path.name for entry in part.folders()] == ["open"]
        assert len(whole.failures().failures) == 1
        assert part.failures().failures == []


async def test_no_tool_shows_more(guarded: Served) -> None:
    await check_tools(guarded, "auto")


@pytest.mark.parametrize("path", PATHS)
def test_no_path_shows_more(guarded: Served, path: str) -> None:
    check_path(guarded, path)
