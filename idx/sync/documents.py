"""Conversion of an extracted file to a document of the index."""

import re
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from idx.extraction.media_types import MARKDOWN
from idx.extraction.text.properties import without_default_title
from idx.extraction.types import Extracted, ReadFile
from idx.sync.plan import Change
from shared.messages import decodable, utc_time
from shared.model import metadata
from shared.model.document import (
    MAX_TITLE,
    MEMBER_MARK,
    Document,
    FileState,
    Metadata,
    SourceFile,
    unmarked_path,
)
from shared.model.schema import CONTAINER
from shared.settings.defaults import Layout

_UNKNOWN: Final = ""  # hash of a file that no file has

_LANGUAGE_CODE: Final = re.compile("[a-z]{2}")


def member_id(container: str, path: str) -> str:
    """Return the id of the document of something within a file."""
    return f"{container}{MEMBER_MARK}{path}"


def member_document(
    change: Change, file: ReadFile, path: str, read: ReadFile, layout: Layout
) -> Document:
    """Return the document of something within a file, such as an attachment."""
    whole = file_document(change, replace(file, extracted=read.extracted), layout)
    name = unmarked_path(decodable(path.rpartition(MEMBER_MARK)[2]))
    known = {
        **whole.metadata,
        metadata.MODIFIED: _iso(read.modified_ns / 1e9) if read.modified_ns else "",
        **read.extracted.metadata,
        metadata.LANGUAGE: read.language or _declared_language(read.extracted.metadata),
        metadata.FILE_NAME: name.rpartition("/")[2],
        metadata.FILE_EXTENSION: Path(name).suffix.lower().removeprefix("."),
        metadata.FILE_SIZE: read.size,
        metadata.CONTENT_HASH: read.content_hash,
        CONTAINER: change.source_document,
    }
    source = whole.file
    return replace(
        whole,
        id=member_id(change.source_document, path),
        title=_title(read.extracted, name),
        metadata={key: value for key, value in known.items() if value != ""},
        file=source
        and replace(source, state=replace(source.state, container=change.source_document)),
    )


def unfinished(document: Document) -> Document:
    """Return the document of a file of which more will be read.

    Its state is that of no file, so that a sync reads the file again if this one is interrupted.
    """
    source = document.file
    if source is None:
        return document
    state = replace(source.state, modified_ns=0, content_hash=_UNKNOWN)
    return replace(document, file=replace(source, state=state))


def file_document(change: Change, read: ReadFile, layout: Layout) -> Document:
    name = decodable(change.path.name)
    extracted = read.extracted
    known = {
        metadata.MODIFIED: _iso(read.modified_ns / 1e9),
        **extracted.metadata,
        metadata.LANGUAGE: read.language or _declared_language(extracted.metadata),
        metadata.FILE_TYPE: extracted.media_type,
        metadata.FILE_NAME: name,
        metadata.FILE_EXTENSION: Path(name).suffix.lower().removeprefix("."),
        metadata.FILE_SIZE: read.size,
        metadata.FILE_MODIFIED: _iso(min(read.modified_ns / 1e9, time.time())),
        metadata.CONTENT_HASH: read.content_hash,
        metadata.LEFT_OUT: "" if read.left_out is None else read.left_out,
        metadata.INDEXED: _iso(datetime.now(UTC).timestamp()),
    }
    return Document(
        id=change.source_document,
        title=_title(extracted, name),
        content=extracted.text,
        metadata={key: value for key, value in known.items() if value != ""},
        pages=extracted.pages,
        headings=extracted.headings,
        has_lines=extracted.is_own_text,
        file=SourceFile(
            path=change.relative,
            state=FileState(
                folder=change.folder,
                size=read.size,
                modified_ns=read.modified_ns if read.is_settled else 0,
                content_hash=read.content_hash,
                other_volume=change.other_volume,
            ),
        ),
        layout=layout,
    )


def _title(extracted: Extracted, name: str) -> str:
    """Return the title of a file, else its name, for Markdown without the extension."""
    known = Path(name).stem.strip() if extracted.media_type == MARKDOWN else ""
    return (without_default_title(extracted.title) or known or name)[:MAX_TITLE]


def _iso(seconds: float) -> str:
    """Return a time in ISO 8601 format, or "" if it is outside the years 1 to 9999."""
    try:
        return utc_time(seconds)
    except (OverflowError, ValueError):
        return ""


def _declared_language(known: Metadata) -> str:
    """Return the language declared by a file, used if its text is too short to detect one."""
    declared = known.get(metadata.LANGUAGE)
    return declared if isinstance(declared, str) and _LANGUAGE_CODE.fullmatch(declared) else ""
