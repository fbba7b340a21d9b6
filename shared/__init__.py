"""What mcp-lucene's programs share, and what people script against.

    from pathlib import Path
    from shared import Document, Index, Searcher

    with Index(Path("lucene-index"), create=True) as index:
        index.add(Document("lease", "Lease", "The rent is due on the third of each month."))
    with Searcher(Path("lucene-index")) as searcher:
        print(searcher.search("rent").results[0].content)

Importing this package starts nothing: a name is loaded when it is first used, and the Java
virtual machine starts when an index is first opened.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shared.document import Document
    from shared.errors import (
        BackupError,
        ChunkNotFoundError,
        ConfigurationError,
        DocumentNotFoundError,
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
        JavaHeapError,
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
    from shared.explained import (
        ExplainedHit,
        ExplainedStep,
        ExplainedTerm,
        QueryExplanation,
        ScorePart,
    )
    from shared.extras import ExtraMissingError
    from shared.filters import Filter
    from shared.index import Index, create
    from shared.index_results import (
        DocumentDetails,
        FieldDescription,
        FieldList,
        TermCount,
        TermList,
    )
    from shared.indexed_folder import IndexedFolder, IndexedFolders
    from shared.results import (
        ChunkText,
        DocumentChunks,
        DocumentList,
        DocumentSummary,
        Facet,
        FacetValue,
        FailedFile,
        FailureList,
        Hit,
        IndexStatistics,
        Neighbour,
        SearchAnswer,
    )
    from shared.searcher import Searcher
    from shared.section import Section
    from shared.source_file import FileState, SourceFile

__all__ = [
    "BackupError",
    "ChunkNotFoundError",
    "ChunkText",
    "ConfigurationError",
    "Document",
    "DocumentChunks",
    "DocumentDetails",
    "DocumentList",
    "DocumentNotFoundError",
    "DocumentSummary",
    "ExplainedHit",
    "ExplainedStep",
    "ExplainedTerm",
    "ExtraMissingError",
    "Facet",
    "FacetValue",
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
    "JavaHeapError",
    "JavaStartError",
    "LanguageModelError",
    "LuceneError",
    "McpLuceneError",
    "Neighbour",
    "NoFoldersError",
    "QueryError",
    "QueryExplanation",
    "QueryParseError",
    "ReadersDiedError",
    "ScorePart",
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

_MODULES = {
    "shared.document": ("Document",),
    "shared.explained": (
        "ExplainedHit",
        "ExplainedStep",
        "ExplainedTerm",
        "QueryExplanation",
        "ScorePart",
    ),
    "shared.extras": ("ExtraMissingError",),
    "shared.filters": ("Filter",),
    "shared.index": ("Index", "create"),
    "shared.index_results": (
        "DocumentDetails",
        "FieldDescription",
        "FieldList",
        "TermCount",
        "TermList",
    ),
    "shared.indexed_folder": ("IndexedFolder", "IndexedFolders"),
    "shared.results": (
        "ChunkText",
        "DocumentChunks",
        "DocumentList",
        "DocumentSummary",
        "Facet",
        "FacetValue",
        "FailedFile",
        "FailureList",
        "Hit",
        "IndexStatistics",
        "Neighbour",
        "SearchAnswer",
    ),
    "shared.searcher": ("Searcher",),
    "shared.section": ("Section",),
    "shared.source_file": ("FileState", "SourceFile"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}
"""The module of each name; all others are errors."""


def __getattr__(name: str) -> object:
    """Load the module of a name when the name is first asked for (PEP 562)."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, "shared.errors")), name)
