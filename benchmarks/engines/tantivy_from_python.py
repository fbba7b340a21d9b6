"""The library tantivy, with the buffer that it comes with."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import tantivy

from benchmarks.engines.texts import rows
from benchmarks.engines.worker import Search


def start() -> None:
    """Nothing is to be started."""


def write(texts: Path, index: Path, threads: int) -> None:
    """Add the texts one by one, which are given to the threads."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("content", stored=True)
    index.mkdir()
    writer = tantivy.Index(builder.build(), path=str(index)).writer(num_threads=threads)
    for row in rows(texts):
        writer.add_document(tantivy.Document(id=row.id, content=row.content))
    writer.commit()
    writer.wait_merging_threads()


@contextmanager
def searching(index: Path) -> Iterator[Search]:
    """Search by its own parser; hits are not counted, for the others do not count them."""
    opened = tantivy.Index.open(str(index))
    searcher = opened.searcher()

    def parsed(query: str) -> tantivy.Query:
        if query.endswith("*"):
            # Its parser has no prefixes of single words.
            pattern = f"{query[:-1].lower()}.*"
            return tantivy.Query.regex_query(opened.schema, "content", pattern)
        return opened.parse_query(query, ["content"])

    def search(query: str) -> int:
        found = searcher.search(parsed(query), 10, count=False)
        return len([searcher.doc(address)["content"] for _, address in found.hits])

    yield search
