"""Words to mark on a page: those that a search marks in its passages."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from shared.model.filters import Filter
from shared.model.request import SearchRequest
from shared.model.search_results import MARKS

if TYPE_CHECKING:
    from shared.reading.searcher import Searcher

_MAX_CHUNKS: Final = 100
"""Maximum number of chunks of a page that are searched; a page with more is hardly one to read."""

_MARKED: Final = re.compile("(.*?)".join(map(re.escape, MARKS)), re.DOTALL)


def marked_words(passages: Iterable[str]) -> tuple[str, ...]:
    """Return the different words and phrases that are marked in passages, in alphabetical order.

    Args:
        passages: the `passages` of hits.
    """
    return tuple(sorted({word for passage in passages for word in _MARKED.findall(passage)}))


def words_on_page(
    searcher: "Searcher", source_document: str, page: int, query: str
) -> tuple[str, ...]:
    """Return the words that a search marks in the passages of a page.

    Args:
        searcher: the searcher.
        source_document: the id of the document.
        page: the number of the page, from 1.
        query: the query, as for a search.

    Raises:
        DocumentNotFoundError: there is no such document.
        QueryParseError, QueryError, InvalidTextError: see `Searcher.search`.
    """
    chunks = searcher.chunks_of_page(source_document, page)
    if not query.strip() or not chunks:
        return ()
    request = SearchRequest(
        query,
        limit=_MAX_CHUNKS,
        filters=[
            Filter("source_document", value=source_document),
            Filter("chunk_index", "range", minimum=chunks[0], maximum=chunks[-1]),
        ],
        content="passages",
    )
    hits = searcher.search(request).results
    return marked_words(passage for hit in hits for passage in hit.passages or ())
