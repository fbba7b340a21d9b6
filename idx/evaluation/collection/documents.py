"""Documents of a test collection, from JSON Lines such as BEIR's, or SGML of TREC."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from idx.errors import SourceFileError
from idx.evaluation.collection.input_file import Line, UniqueIds, error_at, peek, read_lines
from idx.evaluation.collection.json_lines import entries
from idx.evaluation.collection.trec_markup import blocks
from shared.errors import InvalidDocumentError
from shared.model.document import Document, Metadata, Scalar

NO_TITLE: Final = "-"
"""Title of a document without one; it contains no words that a query could match."""


class _Entry(BaseModel):
    """Document in JSON; keys without a field become metadata."""

    model_config = ConfigDict(strict=True, extra="allow")

    id: str | int = Field(validation_alias=AliasChoices("_id", "id"))
    title: str | None = None
    text: str | None = Field(default=None, validation_alias=AliasChoices("text", "content"))
    metadata: dict[str, Any] | None = None


def read_documents(file: Path) -> Iterator[Document]:
    """Yield the documents of a file as they are read.

    A document without text gets its title as text, because it could not be found otherwise.

    Args:
        file: JSON Lines with ``_id`` or ``id``, ``title`` and ``text`` or ``content``; or SGML with
            ``<DOC>``, ``<DOCNO>``, ``<TITLE>`` or ``<HEADLINE>``, and ``<TEXT>``.

    Raises:
        SourceFileError: the file has neither format, is invalid, or has a duplicate id.
    """
    first, lines = peek(read_lines(file))
    if first.lstrip().startswith("{"):
        found = _from_json_lines(file, lines)
    elif first.lstrip().lower().startswith("<doc>"):
        found = _from_sgml(file, lines)
    else:
        raise SourceFileError(
            file,
            "is in no format of documents: neither a JSON object with '_id', 'title' and 'text' "
            "on each line, nor <DOC>…</DOC> of TREC",
        )
    ids = UniqueIds(file, "document")
    for number, document in found:
        ids.add(document.id, number)
        yield document


def _from_json_lines(file: Path, lines: Iterator[Line]) -> Iterator[tuple[int, Document]]:
    for number, entry in entries(file, lines, _Entry):
        extra = {**(entry.metadata or {}), **(entry.model_extra or {})}
        metadata = {key: value for key, value in extra.items() if _is_metadata(value)}
        yield (
            number,
            _document(file, number, str(entry.id), entry.title or "", entry.text or "", metadata),
        )


def _from_sgml(file: Path, lines: Iterator[Line]) -> Iterator[tuple[int, Document]]:
    for block in blocks(file, lines, "doc"):
        id_ = next(iter(block.closed("docno")), "")
        title = next(iter([*block.closed("title"), *block.closed("headline")]), "")
        text = "\n\n".join(block.closed("text"))
        yield block.line, _document(file, block.line, id_, " ".join(title.split()), text, {})


def _document(
    file: Path, number: int, id_: str, title: str, text: str, metadata: Metadata
) -> Document:
    title = title.strip()
    try:
        return Document(id_, title or NO_TITLE, text if text.strip() else title, metadata)
    except InvalidDocumentError as error:
        raise error_at(file, number, str(error)) from error


def _is_metadata(value: object) -> bool:
    values = value if isinstance(value, list) else [value]
    return all(isinstance(one, Scalar) for one in values)
