"""State of an index on a cluster: which versions of its documents are visible.

Every chunk has the number of the batch that wrote it, and the version of its document, which is
that batch and the document. The state is one document of the index, changed by compare and swap
only. A search leaves out chunks of batches that are open, abandoned or not known yet, and versions
that were replaced. So a batch becomes visible, and what it replaces disappears, in the one moment
in which the state changes. docs/scale.md describes the protocol, and
`tests.shared.opensearch.test_protocol` tries all orders of its steps.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Self
from uuid import uuid4

from shared.model import schema
from shared.opensearch import layout

GRACE_SECONDS: Final = 60.0
"""Time for which replaced chunks are kept: longer than a search takes after it has read the state
(`shared.opensearch.connection.REQUEST_SECONDS`), with room for clocks that differ."""

ABANDONED_SECONDS: Final = 24 * 3600.0
"""Age from which an open batch counts as that of a writer that was killed, and time for which an
abandoned one stays hidden: longer than a request of its writer can be under way."""


@dataclass(frozen=True)
class Replaced:
    """Versions of documents that are hidden, and since when."""

    versions: tuple[str, ...]
    since: float


@dataclass(frozen=True)
class State:
    """The state of an index; times are seconds since 1970.

    Attributes:
        next: the number of the next batch, from 1.
        open: the batches that are being written, each with the time when it was begun.
        abandoned: the batches that were given up, each with the time when.
        replaced: the versions that were replaced, by the batch that did so.
        changed: when the last batch was published.
        folders: the folders of the documents, as `IndexedFolders.dump` writes them.
        model: the sentence model, as `SentenceModel.dump` writes it; "" without search by meaning.
        identity: what tells the index from another one that has had its name before or gets it
            later.
        copies: the number of the last index that a rebuild has begun to write beside this one.
    """

    next: int = 1
    open: Mapping[int, float] = field(default_factory=dict)
    abandoned: Mapping[int, float] = field(default_factory=dict)
    replaced: Mapping[int, Replaced] = field(default_factory=dict)
    changed: float = 0.0
    folders: str = "[]"
    model: str = ""
    identity: str = ""
    copies: int = 0

    @classmethod
    def of_new_index(cls) -> Self:
        return cls(identity=uuid4().hex)

    @property
    def hidden_batches(self) -> list[int]:
        """Batches below the next one whose chunks are hidden."""
        return sorted((*self.open, *self.abandoned))

    @property
    def hidden_versions(self) -> list[str]:
        return [version for of in self.replaced.values() for version in of.versions]

    def opened(self, now: float) -> tuple[Self, int]:
        """Return the state with a new batch, and the number of the batch."""
        number = self.next
        return replace(self, next=number + 1, open={**self.open, number: now}), number

    def published(
        self,
        batch: int,
        versions: Collection[str],
        now: float,
        **changes: Any,
    ) -> Self:
        """Return the state in which a batch is visible and the versions that it replaces are not.

        It may change the folders and the sentence model, too.
        The versions must be those that this very state shows: one that becomes visible later
        replaces this batch in its turn. If the batch was given up, that is a `KeyError`.
        """
        still_open = {**self.open}
        del still_open[batch]
        return replace(
            self,
            open=still_open,
            # With an entry in any case, by which a writer knows its batch after a lost answer.
            replaced={**self.replaced, batch: Replaced(tuple(sorted(versions)), now)},
            changed=now,
            **changes,
        )

    def withdrawn(self, batches: Iterable[int], now: float) -> Self:
        """Return the state after batches were given up that may be published or gone already."""
        gone = [batch for batch in batches if batch in self.open]
        still_open = {batch: at for batch, at in self.open.items() if batch not in gone}
        return replace(
            self, open=still_open, abandoned={**self.abandoned, **dict.fromkeys(gone, now)}
        )

    def expired(self, now: float) -> list[int]:
        """Return the open batches whose writers must have been killed."""
        return [batch for batch, at in self.open.items() if at < now - ABANDONED_SECONDS]

    def removable(self, now: float) -> list[int]:
        """Return the batches whose replaced versions no search needs any more."""
        return [batch for batch, of in self.replaced.items() if of.since < now - GRACE_SECONDS]

    def forgettable(self, now: float) -> list[int]:
        """Return the abandoned batches that no request of their writers can add to any more."""
        return [batch for batch, at in self.abandoned.items() if at < now - ABANDONED_SECONDS]

    def without(self, batches: Collection[int]) -> Self:
        """Return the state after what some batches replaced, or wrote and gave up, was deleted."""
        return replace(
            self,
            replaced={batch: of for batch, of in self.replaced.items() if batch not in batches},
            abandoned={batch: at for batch, at in self.abandoned.items() if batch not in batches},
        )

    def copied(self, now: float) -> tuple[Self, int]:
        """Return the state of a copy of the index, and the batch of all chunks in it.

        Numbers go on, and what was open is given up: its writers know the index by its name.
        """
        gone = {**self.abandoned, **dict.fromkeys(self.open, now)}
        copy = replace(
            self.of_new_index(),
            next=self.next + 1,
            abandoned=gone,
            changed=now,
            folders=self.folders,
            model=self.model,
            copies=self.copies,
        )
        return copy, self.next

    def dump(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def load(cls, known: Mapping[str, Any]) -> Self:
        """Return the state that `dump` has written.

        Of anything else that is a `KeyError`, `TypeError` or `ValueError`.
        """
        return cls(
            next=int(known["next"]),
            open=_times(known["open"]),
            abandoned=_times(known["abandoned"]),
            replaced={
                int(batch): Replaced(tuple(of["versions"]), float(of["since"]))
                for batch, of in known["replaced"].items()
            },
            changed=float(known["changed"]),
            folders=str(known["folders"]),
            model=str(known["model"]),
            identity=str(known["identity"]),
            copies=int(known["copies"]),
        )


def version_of(batch: int, source_document: str) -> str:
    """Return the version of a document that a batch writes."""
    return f"{batch}-{hashlib.sha256(source_document.encode()).hexdigest()[:16]}"


def file_version_of(batch: int, source_document: str) -> str:
    """Return the version of the state of a document's file, which may change without its text."""
    return f"{version_of(batch, source_document)}-file"


def _times(known: Mapping[str, Any]) -> dict[int, float]:
    return {int(batch): float(at) for batch, at in known.items()}


Query = dict[str, Any]

MOST_TERMS: Final = 50_000
"""Number of terms in one condition; the cluster refuses more than 65,536
(`index.max_terms_count`)."""

IS_CHUNK: Final[Query] = {"exists": {"field": schema.CHUNK_INDEX}}
"""Condition that a document is a chunk; others are the states of files and of the index."""

HAS_FINGERPRINT: Final = {"exists": {"field": schema.FINGERPRINT}}
"""Condition that a chunk has the fingerprint of its document."""

IS_FILE: Final = {"term": {layout.KIND: layout.FILE}}
"""Condition that a document is the state of a file."""


def by_chance(query: Query) -> Query:
    """Return a query that scores what another one matches by chance, each time alike."""
    by_number = {"seed": 1, "field": "_seq_no"}
    chosen = {"query": query, "random_score": by_number, "boost_mode": "replace"}
    return {"function_score": chosen}


def hidden(state: State) -> list[Query]:
    """Return conditions on what a search must not see, by the state that it has read."""
    found: list[Query] = [{"range": {layout.BATCH: {"gte": state.next}}}]
    if state.hidden_batches:
        found.append({"terms": {layout.BATCH: state.hidden_batches}})
    if versions := state.hidden_versions:
        found.append(any_of(layout.VERSION, versions))
    return found


def of_documents(source_documents: Iterable[str]) -> Query:
    """Return a condition on chunks, and states of files, of some documents."""
    return any_of(schema.SOURCE_DOCUMENT, [schema.keyword(name) for name in source_documents])


def any_of(field: str, terms: Sequence[str]) -> Query:
    """Return a condition that a field has one of some terms, any number of them."""
    parts: list[Query] = [
        {"terms": {field: list(terms[begin : begin + MOST_TERMS])}}
        for begin in range(0, max(len(terms), 1), MOST_TERMS)
    ]
    return parts[0] if len(parts) == 1 else {"bool": {"should": parts}}


def visible(state: State, *conditions: Query) -> Query:
    """Return a query for what a search may see that meets some conditions, without scores."""
    return {"bool": {"filter": list(conditions), "must_not": hidden(state)}}
