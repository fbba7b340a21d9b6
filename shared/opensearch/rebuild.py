"""Rebuilding of an index on a cluster beside the old one, whose name it then takes."""

import time
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from shared.errors import ClusterBusyError, ClusterRefusedError, McpLuceneError
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
from shared.opensearch.storage.operations import file_operation, index_operation
from shared.opensearch.storage.successor import LostTurnError, Successor
from shared.settings.defaults import DEFAULT_WAIT
from shared.storage.stored_chunks import details_of


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
        ClusterBusyError: somebody is writing the index, or rebuilds it.
        IndexFolderError: the index cannot be used; the class says why.
    """
    cluster = Cluster(path, DEFAULT_WEIGHTS, "batch", versions=schema.REBUILT_VERSIONS)
    previous = cluster.store.version()
    with vm.attached("batch"):
        successor = Successor(cluster.store)
        counts: list[int] = []
        try:
            snapshot = cluster.newest()
            state, batch = snapshot.state.copied(time.time())
            counts += progress(_copied(snapshot, successor, batch))
            successor.take_place(state)
        except (StaleError, LostTurnError) as error:
            successor.give_up()
            raise ClusterBusyError(
                cluster.path,
                "somebody has written or rebuilt the index meanwhile",
                "rebuild it again",
            ) from error
        except McpLuceneError:
            # If the new index is there to stay, only an answer was lost.
            if successor.give_up():
                raise
        except BaseException:
            successor.give_up()
            raise
    cluster.close()
    return Rebuilt(len(counts), sum(counts), schema.SCHEMA_VERSION, previous)


def _copied(snapshot: ClusterSnapshot, successor: Successor, batch: int) -> Iterator[int]:
    """Write each document into a new index, and yield the number of its chunks."""
    states = file_states(snapshot)
    counts: list[int] = []

    def operations() -> Iterator[bytes]:
        order = [{schema.SOURCE_DOCUMENT: "asc"}, {schema.CHUNK_INDEX: "asc"}]
        every = stored_in_order(snapshot, snapshot.visible(), order, None)
        for name, group in groupby(every, key=lambda of: str(of[schema.SOURCE_DOCUMENT])):
            chunks = list(group)
            document = _document(chunks[0], states.get(name))
            made = ChunkDocuments(document, map(_placed, chunks))
            for source in made:
                id_ = document_id(batch, source["stored"][schema.ID])
                yield index_operation(id_, {**source, layout.BATCH: batch})
            if name in states:
                yield file_operation(batch, name, states[name])
            counts.append(len(chunks))
            successor.renew()

    for id_, reason in successor.store.bulk(operations()):
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
