"""Answers from an index on a node are those of a folder with the same documents."""

import json
import random
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, get_args

import pytest

from benchmarks.relevance import Collection, collections
from shared import Document, Filter, Index, Searcher, duplicates
from shared.errors import McpLuceneError
from shared.model import metadata
from shared.model.request import SearchRequest
from shared.model.search_results import ExplainedHit
from shared.model.weights import Weights
from shared.opensearch import searches
from shared.opensearch.backend import IndexOnCluster
from shared.opensearch.connection import Connection
from shared.opensearch.store import create
from shared.reading.catalog import Purpose
from tests.conftest import Idx, connected
from tests.idx.letters import letters
from tests.opensearch.node import Node
from tests.opensearch.parity import SCORE, differences, documents_of, written
from tests.programs import PROGRAMS
from tests.relevance.queries import read
from tests.relevance.test_relevance import DOCUMENTS
from tests.server.tool_answers import answer
from tests.shared.reading.test_parts import plain

pytestmark = pytest.mark.opensearch

SAMPLES = Path(__file__).parents[2] / "test-index" / "documents"

SAMPLE_QUERIES = (
    *("rent due", "contract termination notice period", '"notice period"', "contrakt", "", "*ment"),
    *("vertrag", "mietvertrag OR rent", "+rent -notice", "con*ract", "rent~1", "DEC-0054", "*"),
    *(
        "what is the deadline for payment of the rent in the lease",
        "author:ottermere",
        "wl-4 logger",
    ),
    *("language:de miete", "filetype:pdf battery", "folder:documents rent", "visite des étangs"),
    *("modified:[2000 TO 2100]", "/re[nt]+/", "title:lease", "nobody has this word", "recieved"),
)

BY_SHARD = (
    *("*ment", "con*ract", "rent~1", "DEC-0054", "visite des étangs"),
    "contract termination notice period",
)
"""Queries whose scores depend on the terms that the shard of a chunk has: patterns are replaced by
the best terms of each shard, and of alternatives the most frequent one in the shard counts."""

CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Search", {"query": "rent", "content": "passages"}),
    ("Search", {"query": "battery replacement", "limit": 3, "offset": 2}),
    ("explain_query", {"query": "rent due in spring", "detail": "scores"}),
    ("ListDocuments", {}),
    ("ListDocuments", {"prefix": "lease", "limit": 1}),
    ("get_next_chunk", {"chunk_id": "lease-garden-flat.txt-chunk-001"}),
    ("get_previous_chunk", {"chunk_id": "lease-garden-flat.txt-chunk-001"}),
    ("get_document_chunks", {"source_document_id": "otterline-wl4-manual.pdf", "count": 4}),
)


@dataclass(frozen=True)
class Pair:
    """The same documents in a folder and on a node."""

    folder: Path
    cluster: str


@pytest.fixture(scope="module")
def samples(node: Node, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    pair = Pair(tmp_path_factory.mktemp("samples") / "index", f"{node.address}/samples")
    for path in (pair.folder, pair.cluster):
        subprocess.run([PROGRAMS / "idx", "sync", "-i", path, SAMPLES], check=True)
    return pair


ALIKE: Final = Weights(feedback=0)
"""Weights with which a folder ranks like a cluster, which does not reorder hits by their terms."""


@pytest.fixture
def searchers(samples: Pair) -> Iterator[tuple[Searcher, Searcher]]:
    with Searcher(samples.folder, weights=ALIKE) as folder, Searcher(samples.cluster) as cluster:
        yield folder, cluster


def test_the_sample_documents_are_ranked_alike(searchers: tuple[Searcher, Searcher]) -> None:
    queries = [{"query": query} for query in SAMPLE_QUERIES]
    different = differences(*searchers, queries)
    assert not different, "\n".join(map(str, different))


def test_several_shards_rank_like_one(samples: Pair, node: Node) -> None:
    address = f"{node.address}/shards"
    subprocess.run([PROGRAMS / "idx", "init", "-i", address, "--shards", "3"], check=True)
    subprocess.run([PROGRAMS / "idx", "sync", "-i", address, SAMPLES], check=True)
    assert len(node.get("/_cat/shards/shards?format=json")) == 3
    queries = [{"query": query} for query in SAMPLE_QUERIES if query not in BY_SHARD]
    with Searcher(samples.folder, weights=ALIKE) as folder, Searcher(address) as cluster:
        different = differences(folder, cluster, queries)
        assert not different, "\n".join(map(str, different))
        for query in BY_SHARD:
            expected, got = folder.search(query), cluster.search(query)
            assert got.totalHits == expected.totalHits
            best = [hit.score for hit in expected.results]
            assert [hit.score for hit in got.results] == pytest.approx(best, rel=0.5)


def test_several_shards_count_all_values(node: Node) -> None:
    address = f"{node.address}/values"
    create(address, shards=3)
    chance = random.Random(5)  # noqa: S311 - no secret
    counts = Counter(f"value{chance.randrange(60):02d}" for _ in range(400))
    with Index(address) as index:
        for number, value in enumerate(counts.elements()):
            index.add(Document(f"d{number}", "D", "text", {"brand": value}))
    expected = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))[:10]
    with Searcher(address) as searcher:
        (facet,) = searcher.search("text", facets=["brand"]).facets
        assert [(of.value, of.count) for of in facet.values] == expected
        assert facet.distinct == len(counts)
        listed = searcher.top_terms(field="brand", limit=10).terms
        assert [(of.term, of.chunks) for of in listed] == expected
        (brand,) = (of for of in searcher.fields().fields if of.name == "brand")
        assert brand.examples == [value for value, _ in expected[:3]]


@pytest.mark.parametrize("whole", [1_000, 1])
def test_filters_orders_and_facets_are_the_same(
    searchers: tuple[Searcher, Searcher], monkeypatch: pytest.MonkeyPatch, whole: int
) -> None:
    monkeypatch.setattr(searches, "_MOST_WHOLE", whole)
    filters = [
        Filter("language", "eq", "en"),
        Filter("language", "not_in", ["de", "fr"]),
        Filter("chunk_index", "range", minimum=2),
        Filter("file_extension", "in", ["md", "txt"]),
        Filter("source_document", "prefix", "lease"),
        Filter("author", "exists"),
        Filter("folder", "eq", "documents"),
        Filter("file_path", "prefix", SAMPLES.as_posix()),
        Filter("modified", "range", minimum="2000", maximum="2100"),
    ]
    facets = ("language", "file_extension")
    queries: list[dict[str, Any]] = [
        {"query": "the rent", "filters": (each,), "facets": facets} for each in filters
    ]
    orders = ("source_document", "-source_document", "-chunk_index", "modified", "-author")
    queries += [{"query": "rent notice", "sort": order} for order in orders]
    queries += [{"query": "battery water level", "sort": order} for order in orders]
    queries += [{"query": "rent", "operator": "and", "offset": 2, "limit": 3}]
    queries += [{"query": "the rent", "recency": 365}, {"query": "rent", "sort": "-modified"}]
    for query in ("the rent", "battery water level", ""):
        grouped = {"query": query, "group": "document", "facets": (*facets, "section")}
        queries += [{**grouped, **each} for each in ({}, {"limit": 2, "offset": 2})]
        queries += [{**grouped, "sort": "-source_document"}, {**grouped, "recency": 30.0}]
    different = differences(*searchers, queries)
    assert not different, "\n".join(map(str, different))


def test_a_page_far_behind_comes_without_the_texts_before_it(
    searchers: tuple[Searcher, Searcher], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, cluster = searchers
    ask, texts = Connection.search, list[str]()

    def noted(self: Connection, bodies: Sequence[Mapping[str, Any]], **more: Any) -> list[Any]:
        answers = ask(self, bodies, **more)
        hits = [hit for answer in answers for hit in answer["hits"]["hits"]]
        texts.extend(
            hit["_id"] for hit in hits if "content" in hit.get("_source", {}).get("stored", ())
        )
        return answers

    expected = [hit.id for hit in cluster.search("", limit=2, offset=6).results]
    monkeypatch.setattr(Connection, "search", noted)
    monkeypatch.setattr(searches, "_MOST_WHOLE", 7)
    assert [hit.id for hit in cluster.search("", limit=2, offset=6).results] == expected
    assert len(texts) == 2


def test_versions_of_a_text_are_the_same(node: Node, tmp_path: Path) -> None:
    pair = Pair(tmp_path / "index", f"{node.address}/versions")
    for path in (pair.folder, pair.cluster):
        with Index(path, create=True) as index:
            for document in letters():
                index.add(document)
    newest = {"versions": "newest", "limit": 20}
    queries: list[dict[str, Any]] = [
        {"query": query, "group": group, **newest}
        for query in ("harbour", "harbour Ottermere", "")
        for group in ("document", "none")
    ]
    queries += [{"query": "harbour", "group": "document", "sort": "modified", **newest}]
    queries += [
        {"query": "", "filters": (Filter("version_of", operator, "draft"),), "limit": 50}
        for operator in ("eq", "ne")
    ]
    with Searcher(pair.folder, weights=ALIKE) as folder, Searcher(pair.cluster) as cluster:
        different = differences(folder, cluster, queries)
        assert not different, "\n".join(map(str, different))
        first = cluster.search("harbour", group="document", versions="newest", limit=20)
        similar = [hit.similar_documents for hit in first.results if hit.similar_documents]
        assert [each.ids for each in similar] == [["second", "draft"]]
    found = duplicates(pair.cluster)
    assert found == duplicates(pair.folder)
    assert len(found.groups) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"query": "rent due"},
        {"query": "what is the deadline for payment of the rent in the lease", "limit": 10},
        {"query": '+"the rent" title:lease -garden'},
        {"query": "author:ottermere DEC-0054"},
        {"query": "con*ract *ment lease~1", "limit": 5},
        {"query": "contrakt"},
        {"query": "folder:documents rent", "recency": 30.0, "offset": 1},
        {"query": "mietvertrag OR visite des étangs"},
    ],
    ids=lambda fields: str(fields["query"]),
)
def test_scores_are_explained_by_the_same_parts(
    searchers: tuple[Searcher, Searcher], fields: dict[str, Any]
) -> None:
    folder, cluster = (
        of.explain(SearchRequest(**{"limit": 3, **fields}), detail="scores") for of in searchers
    )
    assert [hit.id for hit in cluster.hits] == [hit.id for hit in folder.hits]
    assert cluster.hits
    for got, expected in zip(cluster.hits, folder.hits, strict=True):
        assert got.score == pytest.approx(expected.score, abs=SCORE)
        assert scores_of(got) == pytest.approx(scores_of(expected), abs=1e-3)
    assert [vars(step) for step in cluster.steps] == [vars(step) for step in folder.steps]
    for name in ("parsed", "total_hits", "languages", "note"):
        assert getattr(cluster, name) == getattr(folder, name)
    frequencies = {(of.field, of.term): of.document_frequency for of in folder.terms}
    of_words = {(of.field, of.term): of.document_frequency for of in cluster.terms}
    assert of_words.items() <= frequencies.items()
    assert of_words or "*" in fields["query"]


def scores_of(hit: ExplainedHit) -> dict[str, float]:
    """Return the scores of the parts; those with the same name together."""
    found: dict[str, float] = {}
    for part in hit.parts:
        found[part.match] = found.get(part.match, 0.0) + part.score
    return found


SHOWN: tuple[tuple[dict[str, Any], int], ...] = (
    ({}, 0),
    ({"filters": (Filter("language", "eq", "en"),)}, 0),
    ({"recency": 30.0}, 0),
    ({"facets": ("language", "file_extension"), "content": "passages"}, 1),
    ({"sort": "-modified", "facets": ("language",)}, 2),
    ({"group": "document", "facets": ("section",)}, 3),
    ({"group": "document", "sort": "modified"}, 3),
)
"""What a search may ask for, each with the number of further requests."""


@pytest.mark.parametrize(
    ("words", "requests"),
    [
        ("rent lease", 2),
        ("language:en rent", 2),
        ("folder:documents rent", 3),
        ("con*ract OR *ment", 2),
        ('"rent is due"~2 battery', 2),
        ("", 1),
        ("rent battery lease", 2),
        ("author:ottermere", 3),
        ("contrakt", 6),
    ],
)
def test_a_search_takes_two_requests(samples: Pair, words: str, requests: int) -> None:
    with Searcher(samples.cluster) as cluster:
        cluster.search("battery")
        for shown, further in SHOWN:
            for most in (requests, max(1, requests - 1)):
                before = requests_of(cluster)
                cluster.search(words, **shown)
                assert requests_of(cluster) - before <= most + further, (words, shown)
            cluster.close()
            cluster.search("battery")


def test_a_program_that_starts_asks_for_the_index_once(samples: Pair) -> None:
    with Searcher(samples.cluster) as cluster:
        cluster.search("rent lease")
        assert requests_of(cluster) <= 6


async def test_the_tools_answer_the_same(samples: Pair) -> None:
    async with connected(samples.folder) as folder, connected(Path(samples.cluster)) as cluster:
        for tool, arguments in CALLS:
            expected = answer(await folder.call_tool(tool, arguments))
            got = answer(await cluster.call_tool(tool, arguments))
            assert list(unlike(got, expected)) == [], (tool, arguments)


def requests_of(cluster: Searcher) -> int:
    """The number of requests that a searcher has sent, as urllib3 counts them."""
    index = cluster._index  # noqa: SLF001 - nobody else asks
    assert isinstance(index, IndexOnCluster)
    client = index.store.connection._client  # noqa: SLF001 - as above
    return sum(of.pool.num_requests for of in client.transport.connection_pool.connections)


READ: Final[dict[str, Callable[[Searcher], Any]]] = {
    "documents": lambda s: s.documents(),
    "a page of them": lambda s: s.documents(offset=2, limit=3, sort="-source_document"),
    "by title": lambda s: [s.documents(sort=of, limit=5) for of in ("title", "-title")],
    "by chunks": lambda s: s.documents(sort="-chunks", offset=1),
    "by time": lambda s: [s.documents(sort=of) for of in ("modified", "-modified")],
    "with a prefix": lambda s: s.documents(prefix="lease", sort="title"),
    "after an id": lambda s: s.catalog.documents(after="lease", limit=4),
    "ids": lambda s: [s.catalog.document_ids("l", 2), s.catalog.document_terms()],
    "ids of chunks": lambda s: s.catalog.chunk_ids("otterline", 3),
    "digests": lambda s: s.catalog.digests(["lease-garden-flat.txt", "nothing"]),
    "fields": lambda s: s.fields(),
    "names of fields": lambda s: [s.catalog.complete_fields(of) for of in get_args(Purpose)],
    "details": lambda s: s.document_details("otterline-wl4-manual.pdf"),
    "file": lambda s: s.document_file("lease-garden-flat.txt"),
    "files": lambda s: s.files(),
    "page": lambda s: [s.chunks_of_page("otterline-wl4-manual.pdf", of) for of in range(1, 9)],
    "chunks": lambda s: s.document_chunks("otterline-wl4-manual.pdf", start_index=2, count=2),
    "first chunk": lambda s: s.previous_chunk("lease-garden-flat.txt-chunk-001"),
    "words": lambda s: [s.suggest_terms(of, limit=5) for of in ("re", "zz", "\u00e9t", "")],
    "titles": lambda s: s.suggest_terms("l", field="title"),
    "stems": lambda s: s.suggest_terms("en:re", field="stems"),
    "chunks with a prefix": lambda s: s.suggest_terms("otter", field="id", limit=3),
    "files with a prefix": lambda s: s.suggest_terms(SAMPLES.as_posix(), field="file_path"),
    "most frequent words": lambda s: s.top_terms(limit=5, min_length=8),
    "most frequent values": lambda s: s.top_terms(field="file_extension"),
    "counts": lambda s: (s.statistics().documents, s.statistics().formats, s.statistics().folders),
    "similar": lambda s: s.similar_chunks("lease-garden-flat.txt-chunk-001", limit=3),
    "misspelled id": lambda s: s.document_chunks("lease-gardn-flat.txt"),
    "part of an id": lambda s: s.document_chunks("GARDEN-FLAT"),
    "misspelled chunk": lambda s: s.chunk("lease-gardn-flat.txt-chunk-001"),
    "no chunk": lambda s: s.next_chunk("otterline-wl4-manual.pdf-chunk-999"),
    "no field": lambda s: s.top_terms(field="autor"),
}
"""What else is read of an index."""


@pytest.mark.parametrize("question", READ)
def test_all_else_is_read_alike(searchers: tuple[Searcher, Searcher], question: str) -> None:
    def answered(searcher: Searcher) -> Any:
        try:
            return without_times(plain(READ[question](searcher)))
        except McpLuceneError as error:
            return type(error).__name__, str(error).replace(str(searcher.path), "PATH")

    folder, cluster = map(answered, searchers)
    assert list(unlike(cluster, folder)) == []


def without_times(value: Any) -> Any:
    """An answer without the times when documents were indexed."""
    match value:
        case {"name": metadata.INDEXED}:
            return None
        case dict():
            times = {metadata.INDEXED, "modified_ns"}
            return {key: without_times(of) for key, of in value.items() if key not in times}
        case list():
            return list(map(without_times, value))
    return value


def unlike(one: Any, other: Any, path: str = "") -> Iterator[str]:
    """Yield where two answers differ, but for the last digits of scores."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys((*one, *other)):
            yield from unlike(one.get(key), other.get(key), f"{path}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, pair in enumerate(zip(one, other, strict=True)):
            yield from unlike(*pair, f"{path}[{number}]")
    elif one != (pytest.approx(other, abs=2e-3) if isinstance(other, float) else other):
        yield f"{path}: {str(one)[:200]} and {str(other)[:200]}"


def test_the_relevance_suite_is_ranked_alike(idx: Idx, node: Node, tmp_path: Path) -> None:
    lines = b"".join(file.read_bytes() for file in DOCUMENTS).decode()
    pair = Pair(tmp_path / "index", f"{node.address}/relevance")
    for path in (pair.folder, pair.cluster):
        idx("bulk", "-i", path, "-j", "-", stdin=lines)
    queries = []
    for query in read():
        arguments = {**query.arguments(), "content": "full", "limit": 10}
        filters = tuple(Filter(**each) for each in arguments.pop("filters", []))
        queries.append({**arguments, "filters": filters})
    with Searcher(pair.folder, weights=ALIKE) as folder, Searcher(pair.cluster) as cluster:
        different = differences(folder, cluster, queries)
    assert different == [], json.dumps(different, indent=1, default=str)[:4000]


@pytest.mark.soak
@pytest.mark.parametrize("collection", collections(), ids=lambda of: of.folder.name)
def test_a_test_collection_is_ranked_alike(
    node: Node, tmp_path: Path, collection: Collection
) -> None:
    if not collection.documents.is_file():
        pytest.skip(f"there is no {collection.folder}")
    pair = Pair(tmp_path / "index", f"{node.address}/{collection.folder.name}")
    for path in (pair.folder, pair.cluster):
        written(path, documents_of(collection))
    lines = collection.queries.read_text("utf-8").splitlines()
    queries = [{"query": json.loads(line)["text"]} for line in lines]
    with Searcher(pair.folder, weights=ALIKE) as folder, Searcher(pair.cluster) as cluster:
        different = differences(folder, cluster, queries)
    assert not different, "\n".join(map(str, different))
