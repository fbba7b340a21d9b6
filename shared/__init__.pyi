# Every public name of the package, with the module that shared/__init__.py loads it from.

from shared.answers.answer import answer as answer, answer_events as answer_events
from shared.answers.model import ServedAnswerModel as ServedAnswerModel
from shared.errors import (
    BackupError as BackupError,
    ChunkNotFoundError as ChunkNotFoundError,
    ConfigurationError as ConfigurationError,
    DocumentNotFoundError as DocumentNotFoundError,
    ExtraMissingError as ExtraMissingError,
    FieldNotFoundError as FieldNotFoundError,
    FilterError as FilterError,
    IndexDamagedError as IndexDamagedError,
    IndexFolderError as IndexFolderError,
    IndexLockedError as IndexLockedError,
    IndexLuceneVersionError as IndexLuceneVersionError,
    IndexMissingError as IndexMissingError,
    IndexPathError as IndexPathError,
    IndexSchemaError as IndexSchemaError,
    IndexWriteError as IndexWriteError,
    InvalidDocumentError as InvalidDocumentError,
    InvalidTextError as InvalidTextError,
    JavaHeapError as JavaHeapError,
    JavaStartError as JavaStartError,
    LanguageModelError as LanguageModelError,
    LuceneError as LuceneError,
    McpLuceneError as McpLuceneError,
    QueryError as QueryError,
    QueryParseError as QueryParseError,
)
from shared.maintenance.backup import BackedUp as BackedUp, backup as backup
from shared.maintenance.check import (
    Checked as Checked,
    CheckedDocument as CheckedDocument,
    SegmentState as SegmentState,
    check as check,
)
from shared.maintenance.duplicates import (
    Duplicates as Duplicates,
    TextVersion as TextVersion,
    duplicates as duplicates,
)
from shared.maintenance.rebuild import Rebuilt as Rebuilt, rebuild as rebuild
from shared.maintenance.repair import Repaired as Repaired, repair as repair
from shared.maintenance.restore import Restored as Restored, restore as restore
from shared.maintenance.upkeep import (
    Optimized as Optimized,
    Purged as Purged,
    optimize as optimize,
    purge as purge,
    unlock as unlock,
)
from shared.model.answers import (
    Answer as Answer,
    AnswerPart as AnswerPart,
    CheckedCitation as CheckedCitation,
    Passage as Passage,
    Passages as Passages,
    Statement as Statement,
)
from shared.model.document import (
    Document as Document,
    FileState as FileState,
    Heading as Heading,
    Page as Page,
    SourceFile as SourceFile,
)
from shared.model.filters import Collection as Collection, Filter as Filter
from shared.model.folders import IndexedFolder as IndexedFolder, IndexedFolders as IndexedFolders
from shared.model.index_results import (
    DocumentDetails as DocumentDetails,
    DocumentList as DocumentList,
    DocumentSummary as DocumentSummary,
    FailedFile as FailedFile,
    FailureList as FailureList,
    FieldDescription as FieldDescription,
    FieldList as FieldList,
    IndexStatistics as IndexStatistics,
    TermCount as TermCount,
    TermList as TermList,
)
from shared.model.request import SearchRequest as SearchRequest
from shared.model.search_results import (
    ChunkText as ChunkText,
    DocumentChunks as DocumentChunks,
    ExplainedHit as ExplainedHit,
    ExplainedStep as ExplainedStep,
    ExplainedTerm as ExplainedTerm,
    Facet as Facet,
    FacetValue as FacetValue,
    Hit as Hit,
    Neighbour as Neighbour,
    QueryExplanation as QueryExplanation,
    ScorePart as ScorePart,
    SearchAnswer as SearchAnswer,
)
from shared.reading.searcher import Searcher as Searcher
from shared.writing.index import Index as Index, create as create
