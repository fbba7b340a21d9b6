"""What a call sees of an index that others change before it or meanwhile."""

import pytest

from shared import Document, Index, Searcher
from shared.errors import FilterError
from shared.model.filters import Filter

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
