"""Snapshot of one commit of an index, the argument of every reading function."""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from shared.java.cancellation import stoppable
from shared.model.folders import IndexedFolders
from shared.model.weights import DEFAULT_WEIGHTS, Weights
from shared.storage.commits import indexed_folders


@dataclass(frozen=True)
class Snapshot:
    """A commit as one call sees it, unaffected by later commits.

    Attributes:
        searcher: Lucene's `IndexSearcher` on the commit.
        path: the index folder.
        weights: the weight of each kind of match.
    """

    searcher: Any
    path: Path
    weights: Weights = DEFAULT_WEIGHTS

    @property
    def reader(self) -> Any:
        """Lucene's `IndexReader` of the commit."""
        return self.searcher.getIndexReader()

    @cached_property
    def folders(self) -> IndexedFolders:
        """Folders that the documents come from.

        Raises:
            IndexDamagedError: the commit has no readable list of folders.
        """
        return indexed_folders(self.reader, self.path)

    def stoppable(self) -> Self:
        """Return the same commit with a searcher that can be stopped during costly work."""
        return replace(self, searcher=stoppable(self.searcher))
