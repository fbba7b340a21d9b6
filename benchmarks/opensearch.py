"""An index on a cluster beside one in a folder: the same hits, writing, searching, and growth.

Starts nodes of OpenSearch as `make opensearch` does. The results go into docs/scale.md.
"""

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from benchmarks.collection import Collection, collections
from shared import Document, Index, Searcher
from shared.opensearch.searcher import Searcher as ClusterSearcher
from tests.opensearch.distribution import home
from tests.opensearch.node import Node, free_port
from tests.opensearch.parity import differences

KINDS: Final[dict[str, Callable[[Sequence[str]], str]]] = {
    "one word": lambda words: words[0],
    "two words": lambda words: " ".join(words[:2]),
    "six words": lambda words: " ".join(words[:6]),
    "phrase": lambda words: f'"{words[0]} {words[1]}"',
    "prefix": lambda words: f"{words[0][:4]}*",
}
"""What kinds of queries are made of the words of a text."""


FAN_OUTS: Final = (1, 3, 12, 100)
"""Numbers of shards whose tail latency is simulated."""

_LETTERS: Final = 5
"""Least number of letters of a word that is searched for."""

_OTHERS: Final = ("flow", "plate", "layer", "heat", "wing", "jet")
"""Words that follow those of a short text."""

_WORDS: Final = 150
"""Number of words of a chunk in the measurement of growth; most are a little longer."""


def main() -> None:
    """Run what the command line asks for, and print it as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=0, help="of each collection; 0 for all")
    parser.add_argument("--growth", type=int, nargs="*", default=[], help="numbers of chunks")
    parser.add_argument("--nodes", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        nodes = started(Path(folder), options.nodes)
        try:
            for collection in collections() if not options.growth else ():
                compare(collection, nodes[0], Path(folder), options.queries)
            for chunks in options.growth:
                grow(chunks, nodes[0], Path(folder))
        finally:
            for node in nodes:
                node.stop()


def started(folder: Path, count: int) -> list[Node]:
    """Start a cluster of some nodes."""
    ports = [free_port() for _ in range(count)]
    seeds = ports if count > 1 else ()
    nodes = [
        Node(home(), folder / f"node{number}", f"node{number}", seeds, port, heap="512m").start()
        for number, port in enumerate(ports)
    ]
    for node in nodes:
        node.wait(nodes=count)
    return nodes


def documents_of(collection: Collection) -> list[Document]:
    """Return the documents of a collection."""
    lines = collection.documents.read_text("utf-8").splitlines()
    entries = ({key.lower(): value for key, value in json.loads(line).items()} for line in lines)
    return [
        Document(str(of["id"]), of.get("title") or str(of["id"]), of["content"])
        for of in entries
        if of["content"].strip()
    ]


def compare(collection: Collection, node: Node, folder: Path, most: int) -> None:
    """Compare the answers to the queries of a collection, and the times."""
    name = collection.folder.name
    documents = documents_of(collection)
    paths = (folder / name, f"{node.address}/{name}")
    rates = [written(path, documents) for path in paths]
    lines = collection.queries.read_text("utf-8").splitlines()
    queries = [str(json.loads(line).get("text") or json.loads(line)["query"]) for line in lines]
    queries = queries[: most or None]
    with Searcher(paths[0]) as one, ClusterSearcher(paths[1]) as other:
        requests = other.requests
        different = differences(one, other, [{"query": query} for query in queries])
        requests = other.requests - requests
    print(
        f"{name}: {len(documents)} documents, {len(queries)} queries, {len(different)} different; "
        f"{rates[0]:.0f} and {rates[1]:.0f} chunks/s; {requests / len(queries):.1f} requests each"
    )
    for problem in different[:5]:
        print("   ", *problem)


def written(path: Path | str, documents: Sequence[Document]) -> float:
    """Write an index, and return the number of chunks per second."""
    begun = time.perf_counter()
    with Index(path, create=True) as index:
        chunks = sum(count for _, count in index.add_all(documents))
    return chunks / (time.perf_counter() - begun)


def grow(chunks: int, node: Node, folder: Path) -> None:
    """Measure an index of a number of chunks, made of the words of the collections."""
    texts = [document.content for of in collections() for document in documents_of(of)]
    made = list(mixed(texts, chunks))
    paths: dict[str, Path | str] = {
        "folder": folder / f"grown{chunks}",
        "cluster": f"{node.address}/grown{chunks}",
    }
    for name, path in paths.items():
        rate = written(path, made)
        with Searcher(path) as searcher:
            size = searcher.statistics().size_bytes
            times = {kind: measured(searcher, texts, make) for kind, make in KINDS.items()}
        shown = "; ".join(f"{kind} {shown_quantiles(of)}" for kind, of in times.items())
        print(f"{chunks:,} {name}: {rate:.0f} chunks/s, {size / 1e6:.0f} MB; ms p50/p99: {shown}")
    for shards in FAN_OUTS:
        slowest = fanned_out(times["six words"], shards)
        print(f"six words, the slowest of {shards} shards: {shown_quantiles(slowest)}")


def fanned_out(times: Sequence[float], shards: int, draws: int = 10_000) -> list[float]:
    """Return the times of searches that wait for the slowest of some shards.

    Args:
        times: the times of one shard, of which each shard draws one.
        shards: the number of shards.
        draws: the number of searches.
    """
    chance = random.Random(3)  # noqa: S311 - no secret
    return [max(chance.choices(times, k=shards)) for _ in range(draws)]


def shown_quantiles(times: Sequence[float]) -> str:
    """Return the median and the 99th percentile of times, in milliseconds."""
    cut = statistics.quantiles(times, n=100)
    return f"{cut[49]:.1f}/{cut[98]:.1f}"


def mixed(texts: Sequence[str], count: int) -> Iterator[Document]:
    """Yield documents of one chunk each: sentences of all texts, mixed."""
    chance = random.Random(1)  # noqa: S311 - no secret
    words = [text.split() for text in texts]
    for number in range(count):
        parts: list[str] = []
        while len(parts) < _WORDS:
            text = chance.choice(words)
            begin = chance.randrange(max(1, len(text) - 30))
            parts += text[begin : begin + 30]
        yield Document(f"d{number}", f"Document {number}", " ".join(parts))


def measured(
    searcher: Searcher, texts: Sequence[str], make: Callable[[Sequence[str]], str], count: int = 100
) -> list[float]:
    """Return the times of searches in milliseconds, without the first ones."""
    chance = random.Random(2)  # noqa: S311 - no secret
    times = []
    for _ in range(count):
        words = [word for word in chance.choice(texts).split() if word.isalpha()]
        longer = [word for word in words if len(word) >= _LETTERS]
        query = make([*longer, *_OTHERS])
        begun = time.perf_counter()
        searcher.search(query)
        times.append((time.perf_counter() - begun) * 1000)
    return times[5:]


if __name__ == "__main__":
    main()
