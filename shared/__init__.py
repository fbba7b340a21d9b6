"""What mcp-lucene's programs share, and what people script against.

    from pathlib import Path
    from shared import Document, Index, Searcher, create

    create(Path("lucene-index"))
    with Index(Path("lucene-index")) as index:
        index.add(Document("lease", "Lease", "The rent is due on the third of each month."))
    with Searcher(Path("lucene-index")) as searcher:
        print(searcher.search("rent").results[0].content)

Importing this package starts nothing: a name is loaded when it is first used, and the Java
virtual machine starts when an index is first opened.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from shared.chunker import Chunk
from shared.document import Document
from shared.errors import (
    AnswerTooLongError,
    ChunkNotFoundError,
    DocumentNotFoundError,
    FilterError,
    IndexDamagedError,
    IndexFolderError,
    IndexLockedError,
    IndexLuceneVersionError,
    IndexMissingError,
    IndexPathError,
    IndexSchemaError,
    IndexWriteError,
    InvalidDocumentError,
    InvalidTextError,
    JavaStartError,
    LuceneError,
    McpLuceneError,
    QueryError,
    QueryParseError,
    SourceFileError,
)
from shared.filters import Filter
from shared.results import (
    ChunkText,
    DocumentChunks,
    DocumentList,
    DocumentSummary,
    Hit,
    IndexStatistics,
    Neighbour,
    SearchAnswer,
)

if TYPE_CHECKING:
    from shared.index import Index, create
    from shared.searcher import Searcher

__all__ = [
    "AnswerTooLongError",
    "Chunk",
    "ChunkNotFoundError",
    "ChunkText",
    "Document",
    "DocumentChunks",
    "DocumentList",
    "DocumentNotFoundError",
    "DocumentSummary",
    "Filter",
    "FilterError",
    "Hit",
    "Index",
    "IndexDamagedError",
    "IndexFolderError",
    "IndexLockedError",
    "IndexLuceneVersionError",
    "IndexMissingError",
    "IndexPathError",
    "IndexSchemaError",
    "IndexStatistics",
    "IndexWriteError",
    "InvalidDocumentError",
    "InvalidTextError",
    "JavaStartError",
    "LuceneError",
    "McpLuceneError",
    "Neighbour",
    "QueryError",
    "QueryParseError",
    "SearchAnswer",
    "Searcher",
    "SourceFileError",
    "create",
]

_NEEDING_LUCENE = {
    "Index": "shared.index",
    "Searcher": "shared.searcher",
    "create": "shared.index",
}


def __getattr__(name: str) -> object:
    """Load a name that needs Lucene when it is first asked for (PEP 562)."""
    if name not in _NEEDING_LUCENE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_NEEDING_LUCENE[name]), name)
