"""The searches that are compared: this project, and four others on the same documents.

Each is set up as its documentation has it, without anything tuned to a collection, in memory where
it can be, and told to find single words of the query.
"""

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import bm25s
import Stemmer

from idx.evaluation.experiment import CHUNKS_PER_DOCUMENT
from shared.model.document import Document
from shared.model.weights import DEFAULT_WEIGHTS, Weights
from shared.reading.searcher import Searcher

LIMIT: Final = 10  # documents for each query
Search = Callable[[str], list[str]]  # from a query to the ids of the best documents, best first


@contextmanager
def engines(index_path: Path, documents: Sequence[Document]) -> Iterator[dict[str, Search]]:
    """Every search by its name, this project with its default weights first."""
    without_feedback = replace(DEFAULT_WEIGHTS, feedback=0.0)
    with ExitStack() as stack:
        yield {
            "this project": stack.enter_context(this_project(index_path, DEFAULT_WEIGHTS)),
            "this project, without feedback": stack.enter_context(
                this_project(index_path, without_feedback)
            ),
            "Lucene, EnglishAnalyzer": lucene_english(documents),
            "bm25s, stemmed": bm25s_stemmed(documents),
            "SQLite FTS5, porter": sqlite_porter(documents),
            "Lucene, StandardAnalyzer": lucene_standard(documents),
        }


@contextmanager
def this_project(index_path: Path, weights: Weights) -> Iterator[Search]:
    """This project, which is asked for more chunks than documents: many may be of the same one."""
    with Searcher(index_path, program="batch", weights=weights) as searcher:

        def search(query: str) -> list[str]:
            chunks = CHUNKS_PER_DOCUMENT * LIMIT
            answer = searcher.search(query, limit=chunks, syntax="plain", content="none")
            return list(dict.fromkeys(hit.source_document for hit in answer.results))[:LIMIT]

        yield search


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
