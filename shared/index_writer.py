"""Lucene's writer of an index, which one program has at a time."""

import time
from pathlib import Path
from typing import Any, Final

import lucene
from org.apache.lucene.index import IndexWriter, IndexWriterConfig, LogByteSizeMergePolicy
from org.apache.lucene.store import LockObtainFailedException

from shared.analysis.analyzers import writing_analyzer
from shared.errors import IndexLockedError
from shared.writer_lock import holder

_RETRY_SECONDS: Final = 0.05

_BUFFER_MEGABYTES: Final = 64.0
"""Postings that are kept in memory before they become a segment; with Lucene's 16 MB, writing
takes 15 % longer, for merges."""


def open_writer(
    directory: Any, path: Path, wait: float, mode: Any, *, keep_order: bool = False
) -> Any:
    """Open a writer, as soon as no other one has the index.

    Args:
        directory: Lucene's view of the index folder.
        path: the index folder.
        wait: seconds to wait for another writer to end.
        mode: what Lucene does with the index that is there; an ``IndexWriterConfig.OpenMode``.
        keep_order: whether chunks stay in the order in which they are added.

    Raises:
        IndexLockedError: another writer held it all the time.
    """
    deadline = time.monotonic() + wait
    while True:
        config = IndexWriterConfig(writing_analyzer())
        config.setOpenMode(mode)
        config.setRAMBufferSizeMB(_BUFFER_MEGABYTES)
        if keep_order:
            # The usual one merges segments that are no neighbours, too.
            config.setMergePolicy(LogByteSizeMergePolicy())
        try:
            return IndexWriter(directory, config)
        except lucene.JavaError as error:
            if not LockObtainFailedException.instance_(error.getJavaException()):
                raise
            if time.monotonic() >= deadline:
                raise IndexLockedError(path, holder(path), wait) from error
        time.sleep(_RETRY_SECONDS)
