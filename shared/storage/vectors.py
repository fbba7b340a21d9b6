"""Vectors of chunks: doc values of the same commit as the text.

A value is the key of the text that was embedded, followed by its vector; a chunk in a language that
the model does not know, or in which it finds no token, has the key only. Values are read as they
are needed. In memory are only the signs of the vectors' components, 48 bytes for each of 384
dimensions: the number of differing signs orders vectors nearly as their cosines do, and takes a
thirtieth of the time.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from lucene import JArray
from org.apache.lucene.document import BinaryDocValuesField
from org.apache.lucene.index import (
    BinaryDocValues,
    DirectoryReader,
    LeafReader,
    MultiDocValues,
    SegmentReader,
)
from org.apache.lucene.search import (
    BooleanClause,
    BooleanQuery,
    DocIdSetIterator,
    FieldExistsQuery,
    MatchAllDocsQuery,
)
from org.apache.lucene.util import BytesRef

from shared.java.cancellation import check
from shared.model import schema
from shared.semantic.passages import KEY_BYTES
from shared.storage.commits import cached_per_commit

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_CHECK_INTERVAL: Final = 10_000
"""Number of values after which a cancellation is noticed."""

_BLOCK: Final = 4_096
"""Number of vectors whose signs are taken at once."""

_MAX_KNOWN_SEGMENTS: Final = 200
"""Maximum number of segments whose vectors are kept in memory; merges make older ones useless."""


def vector_field(value: bytes | None) -> Any:
    """Return the field of a chunk with its vector, or one that removes the vector (None)."""
    # A plain None would choose no constructor.
    return BinaryDocValuesField(schema.VECTOR, BytesRef(JArray("byte")(value)) if value else None)


def with_vectors() -> Any:
    """Return a query for the chunks that have a value."""
    return FieldExistsQuery(schema.VECTOR)


def without_vectors() -> Any:
    """Return a query for the chunks that have no value yet."""
    return (
        BooleanQuery.Builder()
        .add(MatchAllDocsQuery(), BooleanClause.Occur.MUST)
        .add(with_vectors(), BooleanClause.Occur.MUST_NOT)
        .build()
    )


def stored_values(reader: Any, documents: Iterable[int]) -> dict[int, bytes]:
    """Return the values of some chunks by Lucene's number, of those that have one.

    Args:
        reader: a reader of a whole commit.
        documents: Lucene's numbers of the chunks.
    """
    values: Any = MultiDocValues.getBinaryValues(reader, schema.VECTOR)
    if values is None:
        return {}
    return {
        document: bytes_of(values.binaryValue())
        for document in sorted(documents)
        if values.advanceExact(document)
    }


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """What is kept in memory of the vectors of a segment, or of a whole commit.

    Deleted chunks are among them.

    Attributes:
        documents: Lucene's numbers of the chunks with a vector, ascending.
        signs: the signs of these vectors, see `shared.semantic.vectors.signs`; one vector a column.
    """

    documents: "npt.NDArray[np.int64]"
    signs: "npt.NDArray[np.uint64]"


@cached_per_commit
def all_vectors(reader: Any) -> Vectors:
    """Return the vectors of a commit; of its segments only new ones are read."""
    import numpy as np

    leaves = [(context.docBase, context.reader()) for context in _leaves(reader)]
    parts = [(base, _of_segment(leaf)) for base, leaf in leaves]
    widest = max((part.signs.shape[0] for _, part in parts), default=0)
    parts = [(base, part) for base, part in parts if part.signs.shape[0] == widest]
    if not parts:
        return Vectors(np.zeros(0, np.int64), np.zeros((0, 0), np.uint64))
    return Vectors(
        np.concatenate([part.documents + int(base) for base, part in parts]),
        np.concatenate([part.signs for _, part in parts], axis=1),
    )


_known: dict[tuple[bytes, int], Vectors] = {}
"""Vectors of the segments that were read, by id and generation of their doc values."""

_adding: Final = Lock()


def _of_segment(leaf: Any) -> Vectors:
    """Return the vectors of a segment, which are read once."""
    info = SegmentReader.cast_(leaf).getSegmentInfo()
    name = (bytes(info.info.getId().bytes_), int(info.getDocValuesGen()))
    found = _known.get(name)
    if found is None:
        found = _read(leaf)
        with _adding:
            _known[name] = found
            for oldest in list(_known)[:-_MAX_KNOWN_SEGMENTS]:
                del _known[oldest]
    return found


def _read(leaf: Any) -> Vectors:
    import numpy as np

    from shared.semantic.vectors import signs

    documents: list[int] = []
    parts: list[npt.NDArray[np.uint64]] = []
    block: list[bytes] = []
    size = 0

    def signs_of_block() -> None:
        stored = np.frombuffer(b"".join(block), np.int8).reshape(len(block), size)
        parts.append(signs(stored))
        block.clear()

    for number, value in _values(leaf):
        vector = value[KEY_BYTES:]
        size = size or len(vector)
        if vector and len(vector) == size:
            documents.append(number)
            block.append(vector)
            # All vectors of a segment at once would take eight times the memory of their signs.
            if len(block) == _BLOCK:
                signs_of_block()
    signs_of_block()
    return Vectors(np.array(documents, np.int64), np.concatenate(parts, axis=1))


def keys_with_documents(reader: Any) -> Iterator[tuple[bytes, int]]:
    """Yield the key of each value of a commit, with Lucene's number of its chunk."""
    for context in _leaves(reader):
        for number, value in _values(context.reader()):
            yield value[:KEY_BYTES], int(context.docBase) + number


def segments_with_vectors(reader: Any) -> Iterator[tuple[Any, Iterator[int]]]:
    """Yield each segment with values, and its numbers of the chunks that have one."""
    for context in _leaves(reader):
        leaf = LeafReader.cast_(context.reader())
        if leaf.getBinaryDocValues(schema.VECTOR) is not None:
            yield leaf, (number for number, _ in _values(leaf))


def _leaves(reader: Any) -> Any:
    return DirectoryReader.cast_(reader).leaves()


def _values(leaf: Any) -> Iterator[tuple[int, bytes]]:
    values: Any = LeafReader.cast_(leaf).getBinaryDocValues(schema.VECTOR)
    if values is None:
        return
    values = BinaryDocValues.cast_(values)
    read = 0
    while (number := values.nextDoc()) != DocIdSetIterator.NO_MORE_DOCS:
        read += 1
        if not read % _CHECK_INTERVAL:
            check()
        yield number, bytes_of(values.binaryValue())


def bytes_of(value: Any) -> bytes:
    """Return a copy of Lucene's bytes (``BytesRef``), which it overwrites with the next value."""
    whole: bytes = value.bytes.bytes_
    return whole[value.offset : value.offset + value.length]
