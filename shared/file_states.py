"""The states of the files in an index, all at once.

Each stands in the first chunk of its document, so that one commit makes the document and what is
known of its file durable together, and as doc values, which are read without stored fields.
"""

import json
from dataclasses import fields
from typing import Any, Final

from org.apache.lucene.index import BinaryDocValues, DirectoryReader, LeafReader
from org.apache.lucene.search import DocIdSetIterator

from shared import schema
from shared.source_file import FileState

_STATE: Final = tuple(field.name for field in fields(FileState))


def pack(source_document: str, state: FileState) -> str:
    """A file's state as the value of a field."""
    # Not dataclasses.astuple: it copies each value, and takes longer than all the rest.
    values = [getattr(state, name) for name in _STATE]
    return json.dumps([source_document, *values], ensure_ascii=False)


def unpack(packed: str) -> tuple[str, FileState]:
    """The id of the document and the state of its file that were packed."""
    source_document, *state = json.loads(packed)
    return source_document, FileState(*state)


def file_states(searcher: Any) -> dict[str, FileState]:
    """The state of each file, by the id of its document."""
    reader = DirectoryReader.cast_(searcher.getIndexReader())
    values = [value for context in reader.leaves() for value in _values(context.reader())]
    # One call for all of them is several times faster than one for each.
    return {name: FileState(*state) for name, *state in json.loads(f"[{','.join(values)}]")}


def _values(reader: Any) -> Any:
    """The packed states in a segment, those of deleted documents left out."""
    leaf = LeafReader.cast_(reader)
    states: Any = leaf.getBinaryDocValues(schema.FILE_STATE)
    live = leaf.getLiveDocs()
    if states is None:
        return
    states = BinaryDocValues.cast_(states)
    while (document := states.nextDoc()) != DocIdSetIterator.NO_MORE_DOCS:
        if live is None or live.get(document):
            yield states.binaryValue().utf8ToString()
