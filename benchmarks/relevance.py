"""How good the search is beside others.

Asks this project and four other search engines the queries of three test collections, on the same
documents and in turns, and prints a table. Each is set up as its documentation has it, without
anything tuned to a collection, in memory where it can be, and told to find single words of the
query. `idx eval --set` compares weights.
"""

import re
import sqlite3
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import bm25s
import numpy as np
import numpy.typing as npt
import Stemmer
from lucene import VERSION as LUCENE_VERSION

from benchmarks.page import machine
from idx.evaluation.collection import Query, read_documents, read_judgements, read_queries
from idx.evaluation.experiment import (
    CHUNKS_PER_DOCUMENT,
    MAIN_DEPTH,
    Estimate,
    Run,
    estimates,
    measure,
    temporary_index,
)
from idx.evaluation.report import change, figure
from shared.model.document import Document
from shared.reading.searcher import Searcher

Numbers: TypeAlias = npt.NDArray[np.float64]
DATA: Final = Path(__file__).parents[2] / "shared" / "data"
NAMES: Final = ("cranfield", "cacm", "cisi")
LIMIT: Final = 10  # documents for each query
Search = Callable[[str], list[str]]  # from a query to the ids of the best documents, best first


class Collection:
    """The files of a test collection, in the formats of `idx eval`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.documents = self.folder / "documents.jsonl"
        self.queries = self.folder / "queries.jsonl"
        self.judgements = self.folder / "qrels.tsv"


def collections() -> list[Collection]:
    """The three collections on which all constants of ranking are chosen together."""
    return [Collection(DATA / name) for name in NAMES]


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured of one search.

    The difference is to the first search, query by query, over the mean of the collections.
    """

    name: str
    means: Sequence[float]
    difference: Estimate
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured in one collection."""

    engines: Mapping[str, Numbers]
    seconds: Mapping[str, Sequence[float]]
    line: str


def main() -> None:
    """Measure, and print the table."""
    found = {collection.folder.name: measured(collection) for collection in collections()}
    by_engine = rows(
        [one.engines for one in found.values()], [one.seconds for one in found.values()]
    )
    print("\n".join(table(by_engine, list(found))))
    print(
        f"\nCollections: {'; '.join(one.line for one in found.values())}. On {machine()}, Lucene "
        f"{LUCENE_VERSION}, bm25s {bm25s.__version__}, SQLite {sqlite3.sqlite_version}."
    )


def measured(collection: Collection) -> Measured:
    """Ask the search engines the queries of a collection."""
    judgements = read_judgements(collection.judgements)
    queries = [
        query for query in read_queries(collection.queries) if judgements.has_relevant(query.id)
    ]
    ids = [query.id for query in queries]
    documents = list(read_documents(collection.documents))

    def values(run: Run) -> Numbers:
        return measure(run, judgements, ids, [MAIN_DEPTH])[:, 0]

    with (
        temporary_index(collection.documents) as (index_path, _),
        engines(index_path, documents) as searches,
    ):
        runs, seconds = ask_in_turns(searches, queries)
    return Measured(
        {name: values(run) for name, run in runs.items()},
        seconds,
        f"{collection.folder.name}, {len(documents):,} documents, {len(queries):,} queries",
    )


def ask_in_turns(
    searches: dict[str, Search], queries: Sequence[Query]
) -> tuple[dict[str, Run], dict[str, list[float]]]:
    """Ask all searches all queries, after once without the clock, while Java still compiles.

    Returns the run of each search, and its times in seconds.
    """
    for query in queries:
        for search in searches.values():
            search(query.text)
    runs: dict[str, Run] = {name: {} for name in searches}
    seconds: dict[str, list[float]] = {name: [] for name in searches}
    turns = list(searches)
    for query in queries:
        for name in turns:
            begin = time.perf_counter()
            found = searches[name](query.text)
            seconds[name].append(time.perf_counter() - begin)
            # Scores in their order, which is all that is measured.
            runs[name][query.id] = {id_: 1 / place for place, id_ in enumerate(found, start=1)}
        turns.reverse()
    return runs, seconds


def rows(
    by_collection: Sequence[Mapping[str, Numbers]],
    seconds: Sequence[Mapping[str, Sequence[float]]],
) -> list[Row]:
    """What was measured of each search, compared with the first one."""
    names = list(by_collection[0])
    # Each collection counts as much, whatever the number of its queries.
    total = sum(len(values[names[0]]) for values in by_collection)
    found = []
    for name in names:
        differences = [values[name] - values[names[0]] for values in by_collection]
        scaled = [one * total / len(by_collection) / len(one) for one in differences]
        (difference,) = estimates(np.concatenate(scaled)[:, None])
        times = [second for of_collection in seconds for second in of_collection[name]]
        found.append(
            Row(
                name,
                [float(values[name].mean()) for values in by_collection],
                difference,
                1000 * statistics.fmean(times),
            )
        )
    return found


def table(compared: Sequence[Row], names: Sequence[str]) -> Iterator[str]:
    """The searches beside each other, the first being this project as it is."""
    yield f"| search | {' | '.join(names)} | mean | to the first | 95 % interval | ms |"
    yield f"|---|{'---:|' * len(names)}---:|---:|---|---:|"
    for row in compared:
        cells = " | ".join(map(figure, row.means))
        low, high = change(row.difference.low), change(row.difference.high)
        difference = f"{change(row.difference.mean)} | [{low}, {high}]"
        line = f"| {row.name} | {cells} | {figure(statistics.fmean(row.means))} | "
        line += f"{difference if row is not compared[0] else ' | '} |"
        yield line + f" {row.milliseconds:.1f} |"


@contextmanager
def engines(index_path: Path, documents: Sequence[Document]) -> Iterator[dict[str, Search]]:
    """Every search by its name, this project first."""
    with Searcher(index_path, program="batch") as searcher:
        # It is asked for more chunks than documents: many may be of the same one.
        chunks = CHUNKS_PER_DOCUMENT * LIMIT

        def this_project(query: str) -> list[str]:
            answer = searcher.search(query, limit=chunks, syntax="plain", content="none")
            return list(dict.fromkeys(hit.source_document for hit in answer.results))[:LIMIT]

        yield {
            "this project": this_project,
            "Lucene, EnglishAnalyzer": lucene_english(documents),
            "bm25s, stemmed": bm25s_stemmed(documents),
            "SQLite FTS5, porter": sqlite_porter(documents),
            "Lucene, StandardAnalyzer": lucene_standard(documents),
        }


def lucene_standard(documents: Sequence[Document]) -> Search:
    """Plain Lucene: the content, whose words are only split and put in lower case."""
    from org.apache.lucene.analysis.standard import StandardAnalyzer

    return _lucene(documents, StandardAnalyzer(), ("content",))


def lucene_english(documents: Sequence[Document]) -> Search:
    """Lucene for English: title and content, stop words left out, Porter's stemmer."""
    from org.apache.lucene.analysis.en import EnglishAnalyzer

    return _lucene(documents, EnglishAnalyzer(), ("title", "content"))


def _lucene(documents: Sequence[Document], analyzer: Any, fields: tuple[str, ...]) -> Search:
    """Lucene's BM25 and its classic parser; the scores of the fields are added up."""
    from org.apache.lucene.document import Document as LuceneDocument, Field, StringField, TextField
    from org.apache.lucene.index import DirectoryReader, IndexWriter, IndexWriterConfig
    from org.apache.lucene.queryparser.classic import MultiFieldQueryParser, QueryParserBase
    from org.apache.lucene.search import IndexSearcher
    from org.apache.lucene.store import ByteBuffersDirectory

    directory = ByteBuffersDirectory()
    writer = IndexWriter(directory, IndexWriterConfig(analyzer))
    for document in documents:
        row = LuceneDocument()
        row.add(StringField("id", document.id, Field.Store.YES))
        for field in fields:
            row.add(TextField(field, getattr(document, field), Field.Store.NO))
        writer.addDocument(row)
    writer.close()
    searcher = IndexSearcher(DirectoryReader.open(directory))
    parser = MultiFieldQueryParser(list(fields), analyzer)

    def search(query: str) -> list[str]:
        parsed = QueryParserBase.parse(parser, QueryParserBase.escape(query))
        stored = searcher.storedFields()
        hits = searcher.search(parsed, LIMIT).scoreDocs
        return [str(stored.document(hit.doc).get("id")) for hit in hits]

    return search


def bm25s_stemmed(documents: Sequence[Document]) -> Search:
    """The library bm25s: title and content as one text, its stop words, Snowball's stemmer."""
    stemmer = Stemmer.Stemmer("english")

    def tokens(texts: list[str]) -> Any:
        return bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)

    model = bm25s.BM25()
    texts = [f"{document.title} {document.content}" for document in documents]
    model.index(tokens(texts), show_progress=False)

    def search(query: str) -> list[str]:
        numbers, scores = model.retrieve(
            tokens([query]), k=min(LIMIT, len(documents)), show_progress=False
        )
        found = zip(numbers[0], scores[0], strict=True)
        # It fills up with documents that have none of the words.
        return [documents[number].id for number, score in found if score > 0]

    return search


def sqlite_porter(documents: Sequence[Document]) -> Search:
    """SQLite's full-text index: title and content, Porter's stemmer, any of the words."""
    database = sqlite3.connect(":memory:")
    database.execute(
        "CREATE VIRTUAL TABLE documents USING fts5"
        "(id UNINDEXED, title, content, tokenize = 'porter unicode61')"
    )
    database.executemany(
        "INSERT INTO documents VALUES (?, ?, ?)",
        ((document.id, document.title, document.content) for document in documents),
    )

    def search(query: str) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
        found = database.execute(
            "SELECT id FROM documents WHERE documents MATCH ? ORDER BY rank LIMIT ?",
            (words, LIMIT),
        )
        return [id_ for (id_,) in found]

    return search


if __name__ == "__main__":
    main()
