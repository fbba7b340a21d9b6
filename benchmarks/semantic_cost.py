"""What search by meaning costs: time of embedding and of searches, memory, size of the index.

Texts are made of words of the Cranfield collection, vectors of its own with noise. It writes a
table of docs/measured/semantic.md, unless it is given a number of chunks, and perhaps a collection.
"""

import asyncio
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Final

import numpy as np
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from benchmarks.page import machine, write_figures
from benchmarks.relevance import COLLECTION, Collection
from idx.evaluation.collection import read_documents
from shared import Document, Index, Searcher
from shared.model.request import Search
from shared.semantic.encoder import Vector, quantized
from shared.semantic.models import encoder_of, install
from shared.semantic.windows import WORDS, key_of, packed, windows_of
from shared.settings.defaults import DEFAULT_SENTENCE_MODEL

CHUNKS: Final = 100_000
WINDOWS: Final = 2  # of a chunk
NOISE: Final = 0.8  # its length beside a vector of length 1
QUERIES: Final = 200
BATCH: Final = 5_000


def main(chunks: int = CHUNKS, collection: Path = COLLECTION) -> list[str]:
    """Measure, print the table and return it."""
    documents = list(read_documents(Collection(collection).documents))
    generator = random.Random(2)  # noqa: S311 - reproducible, not secret
    long = [words for one in documents if len(words := one.content.split()) > WORDS]
    queries = [
        " ".join(("what is", *generator.sample(words, 4)))
        for words in generator.choices(long, k=QUERIES)
    ]
    encoder = encoder_of(install(DEFAULT_SENTENCE_MODEL))
    windows = [windows_of(one.title, [one.content]) for one in documents[:QUERIES]]
    began = time.process_time()
    found = encoder.passages([window.text for own in windows for window in own])
    embedding = 1e3 * (time.process_time() - began) / QUERIES
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index"
        words = [word for document in documents for word in document.content.split()]
        known = np.stack([vector for vector in found if vector is not None])
        vectors = make(path, words, chunks, known)
        began = time.perf_counter()
        with Searcher(path, program="server") as searcher:
            searcher.load_model()
            loading = time.perf_counter() - began
            times = list(searches(searcher, queries))
        off, on = (asyncio.run(memory_of_server(path, queries, name)) for name in ("off", ""))
    of_chunk = sum(map(len, windows)) / QUERIES
    lines = [
        f"| {chunks:,} chunks of {WINDOWS} windows | |",
        "|---|---:|",
        f"| embedding a document of {of_chunk:.1f} windows, one core, ms | {embedding:.1f} |",
        f"| processor time of a search by words, p50, ms | {median(one for one, _ in times):.1f} |",
        f"| by both | {median(both for _, both in times):.1f} |",
        f"| the difference, p50 | {median(both - one for one, both in times):.1f} |",
        f"| loading the model and the signs of all vectors, s | {loading:.1f} |",
        f"| vectors in the index, MB | {vectors:,.0f} |",
        f"| memory of the server that is not in files, MB more | {on - off:,.0f} |",
        "",
        f"On {machine()}.",
    ]
    print("\n".join(lines))
    return lines


def make(path: Path, words: Sequence[str], chunks: int, known: Vector) -> float:
    """Make the index, and return what its vectors add to it, in MB."""
    generator = random.Random(1)  # noqa: S311 - reproducible, not secret
    keys = {}
    with Index(path, create=True) as index:
        for number in range(chunks):
            text = " ".join(generator.choices(words, k=WINDOWS * WORDS))
            index.add(Document(f"d{number}", "Text", text))
            keys[f"d{number}-chunk-001"] = key_of("Text", text)
    plain = size(path)
    noise = np.random.default_rng(1)
    with Index(path) as index:
        index.sentence_model = install(DEFAULT_SENTENCE_MODEL)
        items = iter(keys.items())
        while batch := list(islice(items, BATCH)):
            rows = known[noise.integers(len(known), size=(len(batch), WINDOWS))]
            added = noise.normal(size=rows.shape).astype(np.float32)
            rows = rows + NOISE * added / np.linalg.norm(added, axis=-1, keepdims=True)
            values = {
                id_: packed(key, [(0, 1, quantized(row)) for row in own])
                for (id_, key), own in zip(batch, rows, strict=True)
            }
            index.set_vectors(values)
    return (size(path) - plain) / 1e6


def searches(searcher: Searcher, queries: Sequence[str]) -> Iterator[tuple[float, float]]:
    """The processor time of each search in milliseconds, by words and by both."""

    def milliseconds(query: str, way: Search) -> float:
        # A search is the work of one thread; what other programs do does not count.
        began = time.thread_time()
        searcher.search(query, search=way, syntax="plain")
        return 1e3 * (time.thread_time() - began)

    for query in queries[: QUERIES // 5]:
        milliseconds(f"{query} first", "both")
    for query in queries:
        yield milliseconds(query, "words"), milliseconds(query, "both")


async def memory_of_server(path: Path, queries: Sequence[str], model: str) -> float:
    """The memory of a server after some searches that is not in files, in MB."""
    environment = {**os.environ, "IDX_SEMANTIC": model}
    program = str(Path(sys.executable).with_name("mcp-lucene"))
    server = StdioServerParameters(command=program, args=[str(path)], env=environment)
    async with Client(stdio_client(server)) as client:
        for query in queries[: QUERIES // 5]:
            await client.call_tool("Search", {"query": query})
        (status,) = (
            Path(f"/proc/{child}/status").read_text()
            for children in Path("/proc/self/task").glob("*/children")
            for child in children.read_text().split()
            if "mcp-lucene" in Path(f"/proc/{child}/cmdline").read_text()
        )
    return int(status.split("RssAnon:")[1].split()[0]) / 1e3


def size(path: Path) -> int:
    """The size of an index, in bytes."""
    return sum(file.stat().st_size for file in path.iterdir())


if __name__ == "__main__":
    if sys.argv[1:]:
        main(int(sys.argv[1]), *map(Path, sys.argv[2:]))
    else:
        write_figures("semantic.md", main(), writer="python -m benchmarks.semantic_cost")
