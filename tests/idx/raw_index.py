"""An index as Lucene sees it, of whatever schema."""

from pathlib import Path
from typing import Any

import lucene  # noqa: F401 - the packages of Java can be imported after it only
import pytest
from java.nio.file import Paths
from org.apache.lucene.index import BinaryDocValues, DirectoryReader, LeafReader
from org.apache.lucene.store import FSDirectory

from shared import Index
from shared.java import vm
from shared.model import schema

FIELDS = ("id", "title", "content", "source_document", "chunk_index", "details")


def mark_as(path: Path, version: int) -> None:
    """Have an index say that it has another schema."""
    with pytest.MonkeyPatch.context() as patched, Index(path) as index:
        patched.setattr(schema, "SCHEMA_VERSION", version)
        index.folders = index.folders


def stored(path: Path) -> list[dict[str, Any]]:
    """All that is stored of each chunk, in Lucene's order."""
    with vm.attached():
        directory = FSDirectory.open(Paths.get(str(path)))
        reader = DirectoryReader.open(directory)
        try:
            return [chunk for leaf in reader.leaves() for chunk in _of_segment(leaf.reader())]
        finally:
            reader.close()
            directory.close()


def _of_segment(segment: Any) -> list[dict[str, Any]]:
    leaf = LeafReader.cast_(segment)
    fields = leaf.storedFields()
    live = leaf.getLiveDocs()
    states: Any = leaf.getBinaryDocValues("file_state")
    chunks = []
    for number in range(leaf.maxDoc()):
        if live is not None and not live.get(number):
            continue
        document = fields.document(number)
        names = {field.name() for field in document.getFields()}
        assert names == set(FIELDS)
        chunk = {name: document.get(name) for name in FIELDS}
        if states is not None and (values := BinaryDocValues.cast_(states)).advanceExact(number):
            chunk["file_state"] = values.binaryValue().utf8ToString()
        chunks.append(chunk)
    return chunks


def files_of_lucene(path: Path) -> set[str]:
    """The names of the files that the newest commit consists of."""
    with vm.attached():
        directory = FSDirectory.open(Paths.get(str(path)))
        reader = DirectoryReader.open(directory)
        try:
            return {str(name) for name in reader.getIndexCommit().getFileNames()}
        finally:
            reader.close()
            directory.close()
