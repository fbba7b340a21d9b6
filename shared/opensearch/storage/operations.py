"""Operations of bulk requests: chunks, and states of files."""

import json
from collections.abc import Mapping
from typing import Any

from shared.model import schema
from shared.model.document import FileState
from shared.opensearch.chunk_documents import document_id
from shared.opensearch.storage import layout
from shared.storage.mapping import pack


def index_operation(id_: str, source: Mapping[str, Any]) -> bytes:
    """Return the operation that writes a document, whether it is there or not."""
    return _operation("index", id_) + json.dumps(source, ensure_ascii=False).encode() + b"\n"


def delete_operation(id_: str) -> bytes:
    """Return the operation that removes a document."""
    return _operation("delete", id_)


def _operation(kind: str, id_: str) -> bytes:
    return json.dumps({kind: {"_id": id_}}).encode() + b"\n"


def file_operation(batch: int, source_document: str, state: FileState) -> bytes:
    """Return the operation that writes the state of a document's file."""
    source = {
        layout.KIND: layout.FILE,
        layout.BATCH: batch,
        schema.SOURCE_DOCUMENT: schema.keyword(source_document),
        "stored": {schema.FILE_STATE: pack(source_document, state)},
    }
    return index_operation(file_id(batch, source_document), source)


def file_id(batch: int, source_document: str) -> str:
    """Return the id on the cluster of the state of a document's file, written with a batch."""
    return document_id(batch, f"{layout.FILE}\0{source_document}")
