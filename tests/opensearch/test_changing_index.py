"""What a call sees of an index that others change before it or meanwhile."""

import pytest

from shared import Document, Index, Searcher
from shared.errors import FilterError
from shared.model.document import FileState, SourceFile
from shared.model.filters import Filter
from shared.model.weights import DEFAULT_WEIGHTS
from shared.opensearch import documents as of_cluster
from shared.opensearch.opening.cluster import Cluster
from shared.opensearch.opening.snapshot import ClusterSnapshot

pytestmark = pytest.mark.opensearch


def test_a_search_knows_a_field_that_was_written_since_the_last_one(address: str) -> None:
    with Index(address, create=True) as index:
        index.add(Document("d", "D", "text", {"year": 2021}))
    branded = Filter("brand", value="Otter")
    with Searcher(address) as searcher:
        with pytest.raises(FilterError):
            searcher.search("", filters=[branded])
        with Index(address) as index:
            index.add(Document("e", "E", "text", {"brand": "Otter"}))
        assert searcher.search("", filters=[branded], facets=["brand"]).totalHits == 1
        assert searcher.explain("", filters=[branded]).total_hits == 1
        with pytest.raises(FilterError):
            searcher.search("", filters=[Filter("brnad", value="Otter")])


def test_no_state_of_a_file_is_missing_while_others_replace_it(address: str) -> None:
    """Unlike a chunk, the earlier state is deleted at once."""

    def state(size: int) -> FileState:
        return FileState(None, size, size, "hash")

    with Index(address, create=True) as index:
        index.add(Document("d", "D", "text", file=SourceFile("/d.txt", state(1))))
    sizes = iter((2, 3))

    def files_while_they_are_touched(snapshot: ClusterSnapshot) -> dict[str, FileState]:
        for size in sizes:
            with Index(address) as index:
                index.update_file_state("d", state(size))
        return of_cluster.files(snapshot)

    cluster = Cluster(address, DEFAULT_WEIGHTS, "command")
    assert cluster.call(files_while_they_are_touched) == {"d": state(3)}
    cluster.close()
