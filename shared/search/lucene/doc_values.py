"""Values of hits that Lucene keeps by chunk (doc values): their documents and metadata."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from org.apache.lucene.index import (
    DirectoryReader,
    LeafReader,
    SortedDocValues,
    SortedSetDocValues,
)

from shared.model import schema


def documents_of(reader: Any, chunks: Iterable[int]) -> dict[int, str]:
    """Return the document of each of some chunks, by Lucene's number of the chunk.

    A document is named by its term, which is its id unless that is too long for a term.

    Args:
        reader: a Lucene reader of a commit.
        chunks: Lucene's numbers of the chunks.
    """
    found = {}
    for leaf, base, of_leaf in _by_segment(reader, chunks):
        values = SortedDocValues.cast_(leaf.getSortedDocValues(schema.SOURCE_DOCUMENT))
        for chunk in of_leaf:
            values.advanceExact(chunk - base)
            found[chunk] = str(values.lookupOrd(values.ordValue()).utf8ToString())
    return found


def greatest_values(reader: Any, key: str, chunks: Iterable[int]) -> dict[int, str]:
    """Return the greatest value of a metadata key of each chunk that has one.

    Args:
        reader: a Lucene reader of a commit.
        key: the metadata key, which no document needs to have.
        chunks: Lucene's numbers of the chunks.
    """
    found = {}
    for leaf, base, of_leaf in _by_segment(reader, chunks):
        values: Any = leaf.getSortedSetDocValues(schema.metadata_field(key))
        if values is None:
            continue
        values = SortedSetDocValues.cast_(values)
        for chunk in of_leaf:
            if values.advanceExact(chunk - base):
                ordinal = max(values.nextOrd() for _ in range(values.docValueCount()))
                found[chunk] = str(values.lookupOrd(ordinal).utf8ToString())
    return found


def _by_segment(reader: Any, chunks: Iterable[int]) -> Iterator[tuple[Any, int, Iterator[int]]]:
    """Yield each segment that has some of the chunks, its first number, and these chunks."""
    segments = list(DirectoryReader.cast_(reader).leaves())
    bases = [int(segment.docBase) for segment in segments]
    for place, of_segment in groupby(sorted(chunks), lambda chunk: bisect_right(bases, chunk) - 1):
        yield LeafReader.cast_(segments[place].reader()), bases[place], of_segment
