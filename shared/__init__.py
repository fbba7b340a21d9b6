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
    BackupError,
    ChunkNotFoundError,
    ConfigurationError,
    DocumentNotFoundError,
    ExtraMissingError,
    FieldNotFoundError,
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
    LanguageModelError,
    LuceneError,
    McpLuceneError,
    NoFoldersError,
    QueryError,
    QueryParseError,
    ReadersDiedError,
    ServerOptionError,
    SourceFileError,
    TimeBudgetError,
    UnsupportedFileError,
)
from shared.filters import Filter
from shared.indexed_folder import IndexedFolder, IndexedFolders
from shared.section import Section
from shared.source_file import FileState, SourceFile

if TYPE_CHECKING:
    from shared.index import Index, create
    from shared.index_results import (
        DocumentDetails,
        FieldDescription,
        FieldList,
        TermCount,
        TermList,
    )
    from shared.results import (
        ChunkText,
        DocumentChunks,
        DocumentList,
        DocumentSummary,
        FailedFile,
        FailureList,
        Hit,
        IndexStatistics,
        Neighbour,
        SearchAnswer,
    )
    from shared.searcher import Searcher

__all__ = [
    "AnswerTooLongError",
    "BackupError",
    "Chunk",
    "ChunkNotFoundError",
    "ChunkText",
    "ConfigurationError",
    "Document",
    "DocumentChunks",
    "DocumentDetails",
    "DocumentList",
    "DocumentNotFoundError",
    "DocumentSummary",
    "ExtraMissingError",
    "FailedFile",
    "FailureList",
    "FieldDescription",
    "FieldList",
    "FieldNotFoundError",
    "FileState",
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
    "IndexedFolder",
    "IndexedFolders",
    "InvalidDocumentError",
    "InvalidTextError",
    "JavaStartError",
    "LanguageModelError",
    "LuceneError",
    "McpLuceneError",
    "Neighbour",
    "NoFoldersError",
    "QueryError",
    "QueryParseError",
    "ReadersDiedError",
    "SearchAnswer",
    "Searcher",
    "Section",
    "ServerOptionError",
    "SourceFile",
    "SourceFileError",
    "TermCount",
    "TermList",
    "TimeBudgetError",
    "UnsupportedFileError",
    "create",
]

_HEAVY = {
    **dict.fromkeys(
        (
            "ChunkText",
            "DocumentChunks",
            "DocumentList",
            "DocumentSummary",
            "FailedFile",
            "FailureList",
            "Hit",
            "IndexStatistics",
            "Neighbour",
            "SearchAnswer",
        ),
        "shared.results",
    ),
    **dict.fromkeys(
        ("DocumentDetails", "FieldDescription", "FieldList", "TermCount", "TermList"),
        "shared.index_results",
    ),
    "Index": "shared.index",
    "Searcher": "shared.searcher",
    "create": "shared.index",
}


def __getattr__(name: str) -> object:
    """Load a name that needs Lucene or pydantic when it is first asked for (PEP 562)."""
    if name not in _HEAVY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HEAVY[name]), name)
