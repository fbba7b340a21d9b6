"""Parts of an index on a cluster, by the collections that they consist of."""

from collections import OrderedDict
from dataclasses import replace
from threading import Lock
from typing import Final

from shared.model.filters import Limits, Names
from shared.opensearch.compiler import compiled
from shared.opensearch.opening.snapshot import ClusterSnapshot
from shared.opensearch.storage.queries import IS_CHUNK
from shared.opensearch.terms import KnownTerms, PartTerms
from shared.query.filters import within

_MAX_OPEN: Final = 16
"""Maximum number of parts of which something is known; the one used least recently is dropped."""


class OpenParts:
    """What is known of parts of the newest state of an index; threads may share it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._open: OrderedDict[Names, tuple[KnownTerms, ClusterSnapshot]] = OrderedDict()

    def within(self, limits: Limits, whole: ClusterSnapshot) -> ClusterSnapshot:
        """Return what a call may see of a state of the index.

        Every question is asked of the chunks within the limits: each request has a condition on
        them, and terms are counted there. Only scores take frequencies from the whole index, as in
        a folder.

        Args:
            limits: the limits.
            whole: the state.

        Raises:
            StaleError: the state was changed meanwhile.
        """
        if not limits.names:
            return replace(whole, limits=limits)
        with self._lock:
            of, part = self._open.get(limits.names, (None, None))
        # Each state of the index has terms of its own.
        if part is None or of is not whole.known:
            part = _part(limits, whole)
        with self._lock:
            self._open[limits.names] = (whole.known, part)
            self._open.move_to_end(limits.names)
            if len(self._open) > _MAX_OPEN:
                self._open.popitem(last=False)
        return part.read(whole.read_at)


def _part(limits: Limits, whole: ClusterSnapshot) -> ClusterSnapshot:
    condition = compiled(within(limits, whole.terms, whole.folders), scores=False)
    chunks = {"bool": {"filter": [IS_CHUNK, condition]}}
    part = replace(whole, limits=limits, chunks=chunks)
    return replace(part, known=PartTerms(whole.store, whole.known.fields, part.visible()))
