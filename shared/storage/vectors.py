"""Vectors of the windows of chunks: doc values of the same commit as the text.

A value is as `shared.semantic.windows.packed` makes it; a chunk in a language or a script that the
model does not know has no windows in it. In memory are the signs of the vectors' components, 48
bytes for each of 384 dimensions: the number of differing signs orders vectors nearly as their
cosines do, and takes a thirtieth of the time. Many vectors are read as they are needed. They lie
in one corner of the space, so that their mean is subtracted first: of the nearest ten, .986 are
then among the 500 with the most signs in common, else .741 (docs/measured/semantic.md).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from lucene import JArray
from org.apache.lucene.document import BinaryDocValuesField
from org.apache.lucene.index import (
    DirectoryReader,
    LeafReader,
    MultiDocValues,
    SegmentReader,
)
from org.apache.lucene.search import DocIdSetIterator
from org.apache.lucene.util import BytesRef

from shared.java.cancellation import check
from shared.model import schema
from shared.semantic.sentence_model import SentenceModel
from shared.semantic.windows import KEY_BYTES
from shared.storage.commits import cached_per_commit, user_data

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_CHECK_INTERVAL: Final = 10_000
"""Number of values after which a cancellation is noticed."""

_BLOCK: Final = 1_024

_MOST_KEPT: Final = 50_000_000
"""Size of all vectors, in bytes, up to which they are kept in memory: to read those of some hundred
chunks takes several milliseconds."""

_PLACE_BYTES: Final = 8

SAMPLED: Final = 512
"""Number of chunks by which a text is told from one that has nothing to do with the query."""

_MAX_KNOWN_SEGMENTS: Final = 200
"""Maximum number of segments whose vectors are kept in memory; merges make older ones useless."""


def vector_field(value: bytes | None) -> Any:
    """Return the field of a chunk with its vector, or one that removes the vector (None)."""
    # A plain None would choose no constructor.
    return BinaryDocValuesField(schema.VECTOR, BytesRef(JArray("byte")(value)) if value else None)


def stored_values(
    reader: Any, documents: Iterable[int], field: str = schema.VECTOR
) -> dict[int, bytes]:
    """Return the values of some chunks by Lucene's number, of those that have one."""
    values: Any = MultiDocValues.getBinaryValues(reader, field)
    if values is None:
        return {}
    return {
        document: bytes_of(values.binaryValue())
        for document in sorted(documents)
        if values.advanceExact(document)
    }


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """The windows of some chunks, those of a chunk beside each other."""

    documents: "npt.NDArray[np.int64]"  # Lucene's number of the chunk of each window
    places: "npt.NDArray[np.uint32]"  # a row with the begin and the end of each in the chunk
    rows: "npt.NDArray[np.int8]"  # the vector of each, a row

    def of(self, documents: "npt.NDArray[np.int64]") -> "Windows":
        """Return those of some of the chunks, given by their numbers in ascending order."""
        import numpy as np

        firsts = np.searchsorted(self.documents, documents, "left")
        counts = np.searchsorted(self.documents, documents, "right") - firsts
        before = np.cumsum(counts) - counts
        chosen = np.repeat(firsts - before, counts) + np.arange(counts.sum())
        return Windows(self.documents[chosen], self.places[chosen], self.rows[chosen])

    def after(self, chunks: int) -> "Windows":
        """Return them as those of chunks after so many others."""
        return replace(self, documents=self.documents + chunks)


def _joined(parts: Sequence[Windows]) -> Windows:
    import numpy as np

    columns = ("documents", "places", "rows")
    return Windows(*(np.concatenate([getattr(part, name) for part in parts]) for name in columns))


def windows_of(values: Mapping[int, bytes], dimensions: int) -> Windows:
    """Return the windows in stored values by Lucene's number of the chunk."""
    import numpy as np

    documents, places, rows = [], [], []
    for document, value in values.items():
        count = value[KEY_BYTES] if len(value) > KEY_BYTES else 0
        begin = KEY_BYTES + 1
        vectors = begin + count * _PLACE_BYTES
        if count and len(value) == vectors + count * dimensions:
            documents += [document] * count
            places.append(value[begin:vectors])
            rows.append(value[vectors:])
    return Windows(
        np.array(documents, np.int64),
        np.frombuffer(b"".join(places), np.uint32).reshape(-1, 2),
        np.frombuffer(b"".join(rows), np.int8).reshape(-1, max(1, dimensions)),
    )


def dimensions_of(reader: Any) -> int:
    """Return the number of dimensions of a commit's vectors; 0 without search by meaning."""
    text = user_data(reader).get(schema.COMMIT_MODEL)
    return SentenceModel.load(text).dimensions if text else 0


def unit_rows(rows: "npt.NDArray[np.int8]") -> "npt.NDArray[np.float32]":
    """Return stored vectors, one a row, with length 1."""
    import numpy as np

    found = rows.astype(np.float32)
    lengths = np.maximum(np.sqrt(np.einsum("ij,ij->i", found, found)), 1.0)
    unit: npt.NDArray[np.float32] = found / lengths[:, None]
    return unit


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Vectors of some chunks of a commit, spread over all of it, with length 1."""

    rows: "npt.NDArray[np.float32]"  # one vector a row, those of a chunk beside each other
    starts: "npt.NDArray[np.int64]"  # the first row of each chunk


@cached_per_commit
def sample(reader: Any) -> Sample:
    """Return the vectors of up to `SAMPLED` chunks of a commit."""
    values = stored_values(reader, range(0, int(reader.maxDoc()), _step(reader)))
    return sample_of(windows_of(values, dimensions_of(reader)))


def _step(reader: Any) -> int:
    """Return how many chunks there are for each one in a sample of a commit."""
    return max(1, int(reader.maxDoc()) // SAMPLED)


def sample_of(found: Windows) -> Sample:
    """Return windows as those of some chunks that are spread over all of a commit."""
    import numpy as np

    return Sample(unit_rows(found.rows), np.flatnonzero(np.diff(found.documents, prepend=-1)))


def signs(
    rows: "npt.NDArray[np.float32]", mean: "npt.NDArray[np.float32]"
) -> "npt.NDArray[np.uint64]":
    """Return which components of vectors exceed those of a mean, as bits, 64 in each number.

    Each vector is a column, since columns of a few numbers are compared faster one after the other.
    """
    import numpy as np

    bits = np.packbits(rows > mean, axis=1)
    padded = np.ascontiguousarray(np.pad(bits, ((0, 0), (0, -bits.shape[1] % 8))))
    return np.ascontiguousarray(padded.view(np.uint64).T)


@dataclass(frozen=True, slots=True, eq=False)
class _Segment:
    """What is kept in memory of the vectors of a segment, whose chunks are numbered from 0."""

    documents: "npt.NDArray[np.int64]"
    signs: "npt.NDArray[np.uint64]"
    mean: "npt.NDArray[np.float32]"
    windows: Windows | None


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """What is kept in memory of the vectors of a commit; those of deleted chunks are among them."""

    documents: "npt.NDArray[np.int64]"  # Lucene's number of the chunk of each vector, ascending
    signs: "npt.NDArray[np.uint64]"  # of the vectors, one a column
    mean: "npt.NDArray[np.float32]"  # which was subtracted before
    kept: Sequence[tuple[int, Windows]] | None  # all, by the first chunk of each segment, if few

    def of(self, reader: Any, documents: Iterable[int]) -> Windows:
        """Return the windows of some chunks of the commit."""
        import numpy as np

        if self.kept is None:
            return windows_of(stored_values(reader, documents), len(self.mean))
        wanted = np.unique(np.fromiter(documents, np.int64))
        found = (windows.of(wanted - base).after(base) for base, windows in self.kept)
        return _joined([windows_of({}, len(self.mean)), *found])


@cached_per_commit
def all_vectors(reader: Any) -> Vectors:
    """Return the vectors of a commit; of its segments only new ones are read."""
    import numpy as np

    mean = _mean(reader)
    keeps = sample(reader).rows.size * _step(reader) <= _MOST_KEPT
    parts = [
        (int(context.docBase), _of_segment(context.reader(), mean, keeps=keeps))
        for context in _leaves(reader)
    ]
    return Vectors(
        np.concatenate([np.zeros(0, np.int64), *(part.documents + base for base, part in parts)]),
        np.concatenate([_no_signs(mean), *(part.signs for _, part in parts)], axis=1),
        mean,
        [(base, part.windows) for base, part in parts if part.windows] if keeps else None,
    )


_known: dict[tuple[bytes, int, int], _Segment] = {}
"""Vectors of the segments that were read, by id and generation of their doc values."""

_means: dict[int, "tuple[int, npt.NDArray[np.float32]]"] = {}
"""Mean that is subtracted from the vectors of so many dimensions, and the number of vectors that it
was taken of; any is right, and a better one finds more."""

_changing: Final = Lock()


def _mean(reader: Any) -> "npt.NDArray[np.float32]":
    """Return the mean of a commit's vectors, which is taken again when there are twice as many."""
    import numpy as np

    rows = sample(reader).rows
    count, dimensions = rows.shape
    with _changing:
        taken, mean = _means.get(dimensions, (0, np.zeros(dimensions, np.float32)))
        if count >= 2 * taken and count:
            mean = rows.mean(axis=0)
            _means[dimensions] = count, mean
            _known.clear()
        return mean


def _of_segment(leaf: Any, mean: "npt.NDArray[np.float32]", *, keeps: bool) -> _Segment:
    """Return the vectors of a segment, which are read once."""
    info = SegmentReader.cast_(leaf).getSegmentInfo()
    name = (bytes(info.info.getId().bytes_), int(info.getDocValuesGen()), len(mean))
    found = _known.get(name)
    if found is None or found.mean is not mean or (found.windows is None) == keeps:
        found = _read(leaf, mean, keeps=keeps)
        with _changing:
            # Of another generation of the same segment only other values have changed.
            for older in [each for each in _known if each[::2] == name[::2]]:
                del _known[older]
            _known[name] = found
            for oldest in list(_known)[:-_MAX_KNOWN_SEGMENTS]:
                del _known[oldest]
    return found


def _read(leaf: Any, mean: "npt.NDArray[np.float32]", *, keeps: bool) -> _Segment:
    import numpy as np

    documents = [np.zeros(0, np.int64)]
    found = [_no_signs(mean)]
    kept = [windows_of({}, len(mean))]
    values = _values(leaf)
    # All vectors of a segment at once would take eight times the memory of their signs.
    for block in iter(lambda: dict(islice(values, _BLOCK)), {}):
        windows = windows_of(block, len(mean))
        documents.append(windows.documents)
        found.append(signs(unit_rows(windows.rows), mean))
        kept += [windows] if keeps else []
    every = _joined(kept) if keeps else None
    return _Segment(np.concatenate(documents), np.concatenate(found, axis=1), mean, every)


def _no_signs(mean: "npt.NDArray[np.float32]") -> "npt.NDArray[np.uint64]":
    import numpy as np

    return np.zeros((-(-len(mean) // 64), 0), np.uint64)


def keys_with_documents(reader: Any) -> Iterator[tuple[bytes, int]]:
    """Yield the key of each value of a commit, with Lucene's number of its chunk."""
    for context in _leaves(reader):
        for number, value in _values(context.reader()):
            yield value[:KEY_BYTES], int(context.docBase) + number


def _leaves(reader: Any) -> Any:
    return DirectoryReader.cast_(reader).leaves()


def _values(leaf: Any) -> Iterator[tuple[int, bytes]]:
    values: Any = LeafReader.cast_(leaf).getBinaryDocValues(schema.VECTOR)
    read = 0
    while values and (number := values.nextDoc()) != DocIdSetIterator.NO_MORE_DOCS:
        read += 1
        if not read % _CHECK_INTERVAL:
            check()
        yield number, bytes_of(values.binaryValue())


def bytes_of(value: Any) -> bytes:
    """Return a copy of Lucene's bytes (``BytesRef``), which it overwrites with the next value."""
    whole: bytes = value.bytes.bytes_
    return whole[value.offset : value.offset + value.length]
