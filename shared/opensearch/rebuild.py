"""Rebuilding of an index on a cluster beside the old one, whose name it then takes."""

import time
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from shared.errors import ClusterRefusedError, McpLuceneError
from shared.java import vm
from shared.maintenance.rebuild import Progress, Rebuilt
from shared.model import schema
from shared.model.chunks import Chunk, Place
from shared.model.document import Document, FileState, SourceFile
from shared.model.weights import DEFAULT_WEIGHTS
from shared.opensearch.chunk_documents import ChunkDocuments, document_id
from shared.opensearch.documents import file_states, stored_in_order
from shared.opensearch.opening.cluster import Cluster
from shared.opensearch.opening.snapshot import ClusterSnapshot, StaleError
from shared.opensearch.storage import layout
from shared.opensearch.storage.failures import load_failures, save_failures
from shared.opensearch.storage.operations import file_operation, index_operation, word_operations
from shared.opensearch.storage.state import State
from shared.opensearch.storage.store import Store
from shared.settings.defaults import DEFAULT_WAIT
from shared.storage.stored_details import details_of

_RENEWAL_SECONDS: Final = 30.0
"""Seconds between the signs of life while writers are locked out."""


def rebuild(
    path: Path | str,
    *,
    wait: float = DEFAULT_WAIT,  # noqa: ARG001 - as for a folder
    progress: Progress = iter,
) -> Rebuilt:
    """Write what is stored in an index into a new one, which then takes its name in one step.

    Until then every search sees the old one. No batch can be begun meanwhile. Of an older schema
    version nothing is needed but the stored values, ids, numbers and batches of its chunks, and its
    state.

    Args:
        path: the address of the index.
        wait: without a meaning here.
        progress: a function that passes on the number of chunks, document by document.

    Raises:
        ClusterRefusedError: somebody is writing the index, or rebuilds it.
        IndexFolderError: the index cannot be used; the class says why.
    """
    cluster = Cluster(path, DEFAULT_WEIGHTS, "batch", versions=schema.REBUILT_VERSIONS)
    store = cluster.store
    previous = store.version()
    failures = load_failures(path)
    with vm.attached("batch"):
        store.change(lambda state: _frozen(state, cluster.path))
        try:
            snapshot = cluster.newest()
            counts = _replaced(snapshot, progress)
        except StaleError as error:
            _thaw(store)
            raise ClusterRefusedError(
                cluster.path, "somebody has written the index meanwhile", "rebuild it again"
            ) from error
        except BaseException:
            _thaw(store)
            raise
    save_failures(path, failures)
    cluster.close()
    return Rebuilt(len(counts), sum(counts), schema.SCHEMA_VERSION, previous)


def _replaced(snapshot: ClusterSnapshot, progress: Progress) -> list[int]:
    """Put a copy of an index in its place, and return the numbers of chunks of its documents.

    Raises:
        StaleError: somebody has written the index since it was frozen.
    """
    store = snapshot.store
    beside = store.create_beside()
    new = Store(store.connection, beside)
    state, batch = snapshot.state.copied(time.time())
    counts = list(progress(_copied(snapshot, new, batch)))
    new.refresh()
    new.put_state(state, {"op_type": "create"})
    _renew(snapshot)
    store.give_name_to(beside)
    return counts


def _frozen(state: State, path: Path) -> State:
    now = time.time()
    if state.is_frozen(now):
        raise ClusterRefusedError(path, "the index is being rebuilt", "wait until that has ended")
    for batch in state.expired(now):
        # If its writer is not dead after all, it must not publish what the copy would not have.
        state = state.withdrawn(batch, now)
    if state.open:
        raise ClusterRefusedError(
            path, "somebody is writing the index", "wait until that has ended, two minutes at most"
        )
    return state.frozen_at(now)


def _renew(snapshot: ClusterSnapshot) -> None:
    """Give a sign of life.

    Raises:
        StaleError: somebody has written the index, since the last one was too long ago.
    """
    known = snapshot.state

    def renewed(state: State) -> State:
        # No batch was open when it was frozen, and a further one takes a number.
        if (state.identity, state.next) != (known.identity, known.next):
            raise StaleError
        return state.frozen_at(time.time())

    snapshot.store.change(renewed)


def _thaw(store: Store) -> None:
    """Let writers begin again; if that fails, they can after two minutes."""
    try:
        store.change(lambda state: state.frozen_at(0.0))
    except McpLuceneError:
        return


def _copied(snapshot: ClusterSnapshot, new: Store, batch: int) -> Iterator[int]:
    """Write each document into a new index, and yield the number of its chunks."""
    states = file_states(snapshot)
    counts: list[int] = []

    def operations() -> Iterator[bytes]:
        known: set[tuple[str, str]] = set()
        order = [{schema.SOURCE_DOCUMENT: "asc"}, {schema.CHUNK_INDEX: "asc"}]
        every = stored_in_order(snapshot, snapshot.visible(), order, None)
        renewed = time.monotonic()
        for name, group in groupby(every, key=lambda of: str(of[schema.SOURCE_DOCUMENT])):
            chunks = list(group)
            document = _document(chunks[0], states.get(name))
            made = ChunkDocuments(document, map(_placed, chunks))
            for source in made:
                id_ = document_id(batch, source["stored"][schema.ID])
                yield index_operation(id_, {**source, layout.BATCH: batch})
            if name in states:
                yield file_operation(batch, name, states[name])
            yield from word_operations(made.words, known)
            counts.append(len(chunks))
            if time.monotonic() - renewed > _RENEWAL_SECONDS:
                renewed = time.monotonic()
                _renew(snapshot)

    for id_, reason in new.bulk(operations()):
        raise ClusterRefusedError(snapshot.path, f"{id_}: {reason}")
    yield from counts


def _document(first: Mapping[str, Any], state: FileState | None) -> Document:
    details = details_of(first)
    return Document(
        id=first[schema.SOURCE_DOCUMENT],
        title=details.title,
        content=first[schema.CONTENT],
        metadata=details.metadata,
        file=SourceFile(details.file_path, state) if state and details.file_path else None,
    )


def _placed(stored: Mapping[str, Any]) -> tuple[Chunk, Place]:
    details = details_of(stored)
    place = details.place
    chunk = Chunk(
        id=stored[schema.ID],
        title=stored[schema.TITLE],
        content=stored[schema.CONTENT],
        source_document=stored[schema.SOURCE_DOCUMENT],
        index=int(stored[schema.CHUNK_INDEX]),
        start=int(place["char_start"]),
        end=int(place["char_end"]),
        count=details.chunk_count,
        words=details.words,
    )
    return chunk, place
