"""What search by meaning costs: time of searches, memory of the server, size of the index.

The texts are made of words of the Cranfield collection, their vectors are those of its documents
with noise: embedding so many texts would take half an hour. The index of a million chunks is ten
times the smaller one. It writes a table of docs/measured/semantic.md; five minutes on two cores.
"""

import asyncio
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Final

import numpy as np
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from benchmarks.collection import COLLECTION, Collection
from benchmarks.page import machine, write_figures
from benchmarks.semantic_plot import draw
from idx.evaluation.collection.documents import read_documents
from shared import Document, Index, Searcher
from shared.java import vm
from shared.model.request import Search
from shared.semantic.models import install
from shared.semantic.passages import key_of, passage
from shared.semantic.vectors import quantized
from shared.settings.defaults import DEFAULT_SENTENCE_MODEL
from shared.storage.integrity import open_directory

CHUNKS: Final = 100_000
COPIES: Final = 10
"""Copies of the index that make the larger one."""

WORDS: Final = 40
"""Words of a chunk."""

NOISE: Final = 0.8
"""Length of the noise beside a vector of length 1."""

QUERIES: Final = 300
ADDED: Final = 20
BATCH: Final = 5_000
SEARCHES_IN_SERVER: Final = 50
IDX_SERVER: Final = Path(sys.executable).with_name("mcp-lucene")


@dataclass(frozen=True, slots=True)
class Cost:
    """What was measured on an index.

    Attributes:
        chunks: its chunks.
        words: the median processor time of a search by words, in milliseconds.
        both: that of a search by both.
        added: the median of the differences.
        loading: the time in which model and vectors are loaded, in seconds.
        vectors: what the vectors add to the index, in MB.
        memory: what the server takes more with them, in MB that are not in files.
        document: the time in which a document is added, in milliseconds.
    """

    chunks: int
    words: float
    both: float
    added: float
    loading: float
    vectors: float
    memory: float
    document: float


def main() -> None:
    """Measure, print the table and write it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index"
        plain = make(path)
        small = measured(path, CHUNKS, plain)
        larger = Path(folder) / "larger"
        multiply(path, larger)
        large = measured(larger, CHUNKS * COPIES, plain * COPIES)
    lines = [*table((small, large)), "", f"On {machine()}."]
    print("\n".join(lines))
    write_figures("semantic.md", lines, writer="python -m benchmarks.semantic_cost")
    draw([(f"{cost.chunks:,}", cost.words, cost.both) for cost in (small, large)])


def make(path: Path) -> int:
    """Make the smaller index, and return its size without vectors, in bytes."""
    documents = list(read_documents(Collection(COLLECTION).documents))
    words = [word for document in documents for word in document.content.split()]
    generator = random.Random(1)  # noqa: S311 - reproducible, not secret
    texts = {f"d{number}": " ".join(generator.choices(words, k=WORDS)) for number in range(CHUNKS)}
    with Index(path, create=True) as index:
        for _ in index.add_all(Document(name, name, text) for name, text in texts.items()):
            pass
    plain = size(path)
    encoder = install(DEFAULT_SENTENCE_MODEL)
    found = encoder.passages([document.content for document in documents])
    known = np.stack([vector for vector in found if vector is not None])
    noise = np.random.default_rng(1)
    with Index(path) as index:
        index.sentence_model = encoder.model
        items = iter(texts.items())
        while batch := list(islice(items, BATCH)):
            rows = known[noise.integers(len(known), size=len(batch))]
            random_rows = noise.normal(size=rows.shape).astype(np.float32)
            rows = rows + NOISE * random_rows / np.linalg.norm(random_rows, axis=1)[:, None]
            values = {}
            for (name, text), row in zip(batch, rows, strict=True):
                read = passage(name, "", text)
                values[f"{name}-chunk-001"] = read, key_of(read) + quantized(row)
            index.set_vectors(values)
    return plain


def multiply(path: Path, larger: Path) -> None:
    """Make an index of copies of another one."""
    from org.apache.lucene.index import NoMergePolicy

    shutil.copytree(path, larger)
    with Index(larger) as index, vm.attached():
        writer = index._writer  # noqa: SLF001 - no user would do this
        writer.getConfig().setMergePolicy(NoMergePolicy.INSTANCE)
        for _ in range(COPIES - 1):
            with closing(open_directory(path)) as directory:
                writer.addIndexes([directory])


def measured(path: Path, chunks: int, plain: int) -> Cost:
    """Measure an index.

    Args:
        path: the index.
        chunks: the number of its chunks.
        plain: its size without vectors, in bytes.
    """
    began = time.perf_counter()
    with Searcher(path, program="server") as searcher:
        searcher.load_model()
        loading = time.perf_counter() - began
        times = list(searches(searcher))
    memory = [asyncio.run(memory_of_server(path, model)) for model in ("off", "")]
    vectors = (size(path) - plain) / 1e6
    return Cost(
        chunks,
        median(words for words, _ in times),
        median(both for _, both in times),
        median(both - words for words, both in times),
        loading,
        vectors,
        memory[1] - memory[0],
        adding(path),
    )


def queries() -> list[str]:
    """Questions in words of the texts."""
    generator = random.Random(2)  # noqa: S311 - reproducible, not secret
    documents = list(read_documents(Collection(COLLECTION).documents))
    return [
        " ".join(("what is", *generator.sample(document.content.split()[:100], 4)))
        for document in generator.choices(documents, k=QUERIES)
        if len(document.content.split()) > WORDS
    ]


def searches(searcher: Searcher) -> Iterator[tuple[float, float]]:
    """The processor time of each search in milliseconds, by words and by both, taking turns."""

    def milliseconds(query: str, way: Search) -> float:
        # A search is the work of one thread; what other programs do does not count.
        began = time.thread_time()
        searcher.search(query, search=way, syntax="plain")
        return 1e3 * (time.thread_time() - began)

    for query in queries()[: QUERIES // 5]:
        milliseconds(f"{query} first", "both")
    for number, query in enumerate(queries()):
        if number % 2:
            words = milliseconds(query, "words")
            yield words, milliseconds(query, "both")
        else:
            both = milliseconds(query, "both")
            yield milliseconds(query, "words"), both


async def memory_of_server(path: Path, model: str) -> float:
    """The memory of a server after some searches that is not in files, in MB."""
    environment = {**os.environ, "IDX_SEMANTIC": model}
    server = StdioServerParameters(command=str(IDX_SERVER), args=[str(path)], env=environment)
    async with Client(stdio_client(server)) as client:
        for query in queries()[:SEARCHES_IN_SERVER]:
            await client.call_tool("Search", {"query": query})
        (process,) = (
            child
            for children in Path("/proc/self/task").glob("*/children")
            for child in children.read_text().split()
            if "mcp-lucene" in Path(f"/proc/{child}/cmdline").read_text()
        )
        status = Path(f"/proc/{process}/status").read_text()
    return int(status.split("RssAnon:")[1].split()[0]) / 1e3


def adding(path: Path) -> float:
    """The milliseconds in which a document is added, without the commit and the start."""
    times = []
    for number in range(ADDED):
        with Index(path) as index:
            began = time.perf_counter()
            index.add(Document(f"new{number}", "New", f"Text {number} that is new."))
            times.append(1e3 * (time.perf_counter() - began))
    return median(times)


def size(path: Path) -> int:
    """The size of an index, in bytes."""
    return sum(file.stat().st_size for file in path.iterdir())


def table(costs: Sequence[Cost]) -> Iterator[str]:
    """What was measured, an index a column."""
    yield f"| chunks of {WORDS} words | {' | '.join(f'{cost.chunks:,}' for cost in costs)} |"
    yield f"|---|{'---:|' * len(costs)}"
    rows = {
        "processor time of a search by words, p50, ms": [f"{cost.words:.1f}" for cost in costs],
        "by both": [f"{cost.both:.1f}" for cost in costs],
        "the difference, p50": [f"{cost.added:.1f}" for cost in costs],
        "loading the model and the signs of all vectors, s": [
            f"{one.loading:.1f}" for one in costs
        ],
        "vectors in the index, MB": [f"{cost.vectors:,.0f}" for cost in costs],
        "memory of the server that is not in files, MB more": [
            f"{one.memory:,.0f}" for one in costs
        ],
        "adding a document, p50, ms": [f"{cost.document:.1f}" for cost in costs],
    }
    for name, cells in rows.items():
        yield f"| {name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
