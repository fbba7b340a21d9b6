"""Documents of an index on a cluster that are versions of the same text."""

from collections.abc import Iterator
from pathlib import Path

from shared.maintenance.duplicates import Duplicates, groups, text_version
from shared.maintenance.upkeep import Progress, Step
from shared.model import schema
from shared.model.index_results import DocumentSummary
from shared.model.weights import DEFAULT_WEIGHTS
from shared.opensearch.cluster import Cluster
from shared.opensearch.documents import FIRST_CHUNK, all_stored
from shared.opensearch.queries import HAS_FINGERPRINT
from shared.opensearch.search.selection import fingerprinted
from shared.opensearch.snapshot import ClusterSnapshot
from shared.search.selection import Fingerprinted
from shared.storage.stored_chunks import summary_from_lucene


def duplicates(path: Path | str, *, min_similarity: float, progress: Progress) -> Duplicates:
    """Find documents that are versions of the same text, by their fingerprints.

    Documents without one, which an earlier version of this software has indexed, are left out.

    Args:
        path: the address of the index.
        min_similarity: the least similarity of a version and the newest one, from 0 to 1.
        progress: a function that passes on the steps of the search.

    Raises:
        IndexFolderError: the index cannot be used; the class says why.
    """
    cluster = Cluster(path, DEFAULT_WEIGHTS, "command")
    try:
        return cluster.call(lambda snapshot: _duplicates(snapshot, min_similarity, progress))
    finally:
        cluster.close()


def _duplicates(snapshot: ClusterSnapshot, min_similarity: float, progress: Progress) -> Duplicates:
    every: list[Fingerprinted] = []
    summaries: dict[str, DocumentSummary] = {}

    def steps() -> Iterator[Step]:
        total = snapshot.count(snapshot.visible(FIRST_CHUNK))
        order = [{schema.SOURCE_DOCUMENT: "asc"}]
        query = snapshot.visible(HAS_FINGERPRINT)
        for stored in all_stored(snapshot, query, order):
            if found := fingerprinted(stored):
                every.append(found)
                summaries[found.id] = summary_from_lucene(stored, snapshot.folders)
            yield Step("Comparing documents", len(every), total)

    if schema.FINGERPRINT in snapshot.known.fields:
        for _ in progress(steps()):
            pass
    found = [
        [text_version(each, similarity, summaries[each.id]) for each, similarity in group]
        for group in groups(every, min_similarity)
    ]
    return Duplicates(len(every), found)
