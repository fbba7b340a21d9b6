"""The state of an index on a cluster: which batches of chunks are visible. Without any request.

Every chunk has the number of the batch that wrote it. The state is one document, which changes only
if it is still the one that was read (compare and swap), and a search leaves out what it hides:

- chunks of a batch that is open, was abandoned, or is not known yet;
- chunks of a replaced document that are of an earlier batch than the one that replaced it.

So a batch becomes visible, and what it replaces disappears, in the one moment in which the state
changes. docs/scale.md describes the protocol with its failure cases, and
`tests.shared.opensearch.test_protocol` tries all orders of the steps of two writers, a reader and a
crash.
"""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Self
from uuid import uuid4

LEASE_SECONDS: Final = 120.0
"""Time after which a writer that did not renew its batch counts as dead."""

GRACE_SECONDS: Final = 60.0
"""Time for which replaced chunks are kept: longer than a search takes after it has read the state
(`shared.opensearch.connection.REQUEST_SECONDS`), with room for clocks that differ."""

ABANDONED_SECONDS: Final = 24 * 3600.0
"""Time for which a batch that was abandoned stays hidden, and what was replaced in a late one:
longer than a request of its writer can be under way."""


class FrozenError(Exception):
    """No batch may be begun, since the index is being rebuilt."""


@dataclass(frozen=True)
class Replaced:
    """Documents that a batch has replaced or removed, or that it has written and may get late.

    Attributes:
        documents: their ids, as terms of the index.
        since: when, in seconds since 1970.
    """

    documents: tuple[str, ...]
    since: float


@dataclass(frozen=True)
class State:
    """The state of an index.

    Attributes:
        next: the number of the next batch, from 1.
        open: the batches that are being written, each with the time of its last sign of life.
        abandoned: the batches of writers that died, each with the time since when it is known.
        late: the documents of visible batches whose chunks may come once more, since the answer to
            a request was lost.
        replaced: the documents whose earlier chunks are hidden, by the batch that replaced them.
        changed: when the last batch was published, in seconds since 1970.
        folders: the folders of the documents, as `IndexedFolders.dump` writes them.
        frozen: since when no batch may be begun, since the index is being rebuilt; 0 if one may.
        identity: what tells the index from another one that has had its name before or gets it
            later; empty in the index of an earlier version of this software.
        copies: the number of the last index that a rebuild has begun to write beside this one, or
            before this one; 0 before the first rebuild.
    """

    next: int = 1
    open: Mapping[int, float] = field(default_factory=dict)
    abandoned: Mapping[int, float] = field(default_factory=dict)
    replaced: Mapping[int, Replaced] = field(default_factory=dict)
    changed: float = 0.0
    folders: str = "[]"
    frozen: float = 0.0
    identity: str = ""
    copies: int = 0
    late: Mapping[int, Replaced] = field(default_factory=dict)

    @classmethod
    def of_new_index(cls) -> Self:
        """Return the state of an index that has just been created."""
        return cls(identity=uuid4().hex)

    @property
    def hidden_batches(self) -> list[int]:
        """Batches below the next one whose chunks are hidden."""
        return sorted((*self.open, *self.abandoned))

    @property
    def as_searched(self) -> Self:
        """The state without signs of life and rebuilds, on which no search depends."""
        return replace(self, open=dict.fromkeys(self.open, 0.0), frozen=0.0, copies=0)

    def shows(self, batch: int, document: str) -> bool:
        """Check whether a search sees a chunk."""
        if batch >= self.next or batch in self.open or batch in self.abandoned:
            return False
        return not any(
            batch < other and document in replaced.documents
            for other, replaced in self.replaced.items()
        )

    def still_serves(self, newest: Self) -> bool:
        """Check whether all chunks that this state shows are there, though another is the newest.

        They are for `GRACE_SECONDS` after this one was the newest, unless another index has taken
        the name.
        """
        return bool(self.identity) and self.identity == newest.identity

    def is_published(self, batch: int) -> bool:
        """Check whether a batch of a writer that has not given it up is visible."""
        return batch < self.next and batch not in self.open and batch not in self.abandoned

    def opened(self, now: float) -> tuple[Self, int]:
        """Return the state with a new batch, and the number of the batch.

        Raises:
            FrozenError: the index is being rebuilt.
        """
        if self.is_frozen(now):
            raise FrozenError
        number = self.next
        return replace(self, next=number + 1, open={**self.open, number: now}), number

    def is_frozen(self, now: float) -> bool:
        """Check whether somebody rebuilds the index, and has given a sign of life."""
        return bool(self.frozen) and self.frozen > now - LEASE_SECONDS

    def copied(self, now: float) -> tuple[Self, int]:
        """Return the state of a copy of the index, and the batch of all chunks in it.

        Numbers go on, and writers that seemed to be dead stay so: they know the index by its name.
        """
        gone = {**self.abandoned, **dict.fromkeys((*self.open, *self.late), now)}
        copy = replace(
            self.of_new_index(),
            next=self.next + 1,
            abandoned=gone,
            changed=now,
            folders=self.folders,
            copies=self.copies,
        )
        return copy, self.next

    def frozen_at(self, now: float) -> Self:
        """Return the state in which no batch may be begun for a while; from 0 on one may."""
        return replace(self, frozen=now)

    def renewed(self, batch: int, now: float) -> Self:
        """Return the state with a sign of life of a batch.

        Raises:
            KeyError: another writer took the batch for abandoned.
        """
        self.open[batch]
        return replace(self, open={**self.open, batch: now})

    def published(
        self,
        batch: int,
        documents: Collection[str],
        now: float,
        folders: str | None = None,
        *,
        late: Collection[str] = (),
    ) -> Self:
        """Return the state in which a batch is visible, and the chunks that it replaces are not.

        Args:
            batch: the batch.
            documents: the documents that it replaces or removes. If an earlier batch was open
                before somebody looked which of them exist, they must include the new ones: that
                batch may have them, too.
            now: the time.
            folders: the folders of the documents; None if they are the same as before.
            late: the documents of the batch if the cluster may get chunks of it once more.

        Raises:
            KeyError: another writer took the batch for abandoned.
        """
        still_open = {**self.open}
        del still_open[batch]
        replaced = {**self.replaced}
        if documents:
            replaced[batch] = Replaced(tuple(sorted(documents)), now)
        return replace(
            self,
            open=still_open,
            replaced=replaced,
            changed=now,
            folders=self.folders if folders is None else folders,
            late={**self.late, batch: Replaced(tuple(sorted(late)), now)} if late else self.late,
        )

    def has_earlier(self, batch: int) -> bool:
        """Check whether an earlier batch may still be published."""
        return any(other < batch for other in self.open)

    def withdrawn(self, batch: int, now: float) -> Self:
        """Return the state after the writer of a batch has given it up; it may be gone already."""
        if batch not in self.open:
            return self
        still_open = {**self.open}
        del still_open[batch]
        return replace(self, open=still_open, abandoned={**self.abandoned, batch: now})

    def expired(self, now: float) -> list[int]:
        """Return the open batches whose writers seem to be dead."""
        return [batch for batch, seen in self.open.items() if seen < now - LEASE_SECONDS]

    def without_expired(self, now: float) -> Self:
        """Return the state after the writers that seem to be dead were taken for dead."""
        state = self
        for batch in self.expired(now):
            state = state.withdrawn(batch, now)
        return state

    def _staying(self, batch: int) -> dict[int, set[str]]:
        """Return the documents that a batch has replaced, and that earlier ones may still add.

        Returns:
            The documents by the number after the last batch that may add them.
        """
        found: dict[int, set[str]] = {}
        left = {*self.replaced[batch].documents}
        for other in sorted((*self.open, *self.late), reverse=True):
            if other < batch:
                added = left if other in self.open else left & {*self.late[other].documents}
                left = left - added
                if added:
                    found[other + 1] = added
        return found

    @property
    def removed_later(self) -> dict[int, Replaced]:
        """What was replaced, without the batches that `removable` never returns as it is now."""
        return {
            batch: replaced
            for batch, replaced in self.replaced.items()
            if len(self._staying(batch).get(batch, ())) < len(replaced.documents)
        }

    def removable(self, now: float) -> list[int]:
        """Return the batches whose replaced chunks no search needs any more."""
        return [
            batch
            for batch, replaced in self.removed_later.items()
            if replaced.since < now - GRACE_SECONDS
        ]

    def removed(self, batches: Collection[int], before: Self) -> Self:
        """Return the state after the chunks that some batches replaced were deleted.

        Those that an earlier batch may still add stay hidden, by as few conditions as there are
        such batches.

        Args:
            batches: what `removable` has returned.
            before: the state that it was asked of. Others may have added documents since.
        """
        there = [batch for batch in batches if batch in self.replaced]
        hidden = {batch: {*of.documents} for batch, of in self.replaced.items()}
        for batch in there:
            hidden[batch] -= {*before.replaced[batch].documents}
        since = {batch: of.since for batch, of in self.replaced.items()}
        for batch in there:
            for bound, documents in before._staying(batch).items():
                hidden[bound] = hidden.get(bound, set()) | documents
                since[bound] = max(since.get(bound, 0.0), self.replaced[batch].since)
        left = {
            batch: Replaced(tuple(sorted(documents)), since[batch])
            for batch, documents in hidden.items()
            if documents
        }
        return replace(self, replaced=left)

    def forgettable(self, now: float) -> list[int]:
        """Return the abandoned batches that no request of their writers can add to any more."""
        return [batch for batch, at in self.abandoned.items() if at < now - ABANDONED_SECONDS]

    def complete(self, now: float) -> list[int]:
        """Return the late batches that no request of their writers can add to any more."""
        oldest = now - ABANDONED_SECONDS
        return [batch for batch, of in self.late.items() if of.since < oldest]

    def forgotten(self, batches: Collection[int]) -> Self:
        """Return the state without some batches.

        Args:
            batches: abandoned ones whose chunks were deleted, and complete ones.
        """
        return replace(
            self,
            abandoned={batch: at for batch, at in self.abandoned.items() if batch not in batches},
            late={batch: of for batch, of in self.late.items() if batch not in batches},
        )

    def dump(self) -> dict[str, Any]:
        """Return the state as JSON."""
        return asdict(self)

    @classmethod
    def load(cls, known: Mapping[str, Any]) -> Self:
        """Return the state that `dump` has written.

        Raises:
            KeyError, TypeError, ValueError: it was written by something else.
        """
        return cls(
            next=int(known["next"]),
            open={int(batch): float(at) for batch, at in known["open"].items()},
            abandoned={int(batch): float(at) for batch, at in known["abandoned"].items()},
            replaced=_replaced(known["replaced"]),
            changed=float(known["changed"]),
            folders=str(known["folders"]),
            frozen=float(known["frozen"]),
            identity=str(known.get("identity", "")),
            copies=int(known.get("copies", 0)),
            late=_replaced(known.get("late", {})),
        )


def _replaced(known: Mapping[str, Any]) -> dict[int, Replaced]:
    """Return documents by batch that `State.dump` has written."""
    return {
        int(batch): Replaced(tuple(of["documents"]), float(of["since"]))
        for batch, of in known.items()
    }
