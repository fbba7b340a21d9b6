"""Metadata of documents that were made from files.

| key              | is                                                | filters      | shown in  |
|------------------|---------------------------------------------------|--------------|-----------|
| `author`         | who wrote it, as the file says                    | text         | hits      |
| `subject`        | what it is about, as the file says                | text         | hits      |
| `keywords`       | a list, as the file says                          | text         | hits      |
| `language`       | ISO 639-1 code of its main language, detected     | text         | hits      |
| `created`        | when it was made, as the file says, ISO 8601      | text, range  | hits      |
| `modified`       | when it was changed: the file says, or its system | text, range  | hits      |
| `file_type`      | MIME type, by its content                         | text         | hits      |
| `file_path`      | the file, absolute                                | text, prefix | hits      |
| `creator`        | the program that made it, as the file says        | text         | documents |
| `file_name`      | name with extension                               | text         | documents |
| `file_extension` | lower case, without the dot; missing if none      | text         | documents |
| `file_modified`  | when it was changed, as its system says; UTC      | text, range  | documents |
| `file_size`      | bytes                                             | range        | documents |
| `content_hash`   | SHA-256 of the bytes, hexadecimal                 | text         | documents |
| `indexed`        | when it was read, ISO 8601 in UTC                 | text, range  | documents |
| `container`      | id of the file's document, for a part of a file   | text, prefix | hits      |
| `message_id`     | of a mail: its Message-ID                         | text         | documents |
| `thread`         | of a mail: Message-ID of the first one            | text         | hits      |
| `recipients`     | of a mail: a list of addresses                    | text         | documents |
| `ocr_pages`      | numbers of pages of a PDF that OCR has read       | range        | documents |
| `ocr_confidence` | mean confidence of OCR in words, in per cent      | range        | documents |
| `pages_without_text` | numbers of scanned or blank pages of a PDF    | range        | documents |
| `hidden_text`    | text in the file that a reader does not see       | text         | documents |
| `left_out`       | number of secrets that lie in the file, unread    | range        | documents |
| `other`          | of keys beyond the limits: `KEY: VALUE`           | text         | documents |

The title is a separate field, which is searched. Each key is indexed like ``metadata.KEY`` in
`shared.model.schema`; ISO 8601 dates are ordered as text, and files by the prefix of their folder,
then by their path in it. Other keys come from bulk documents and from the front matter of Markdown.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Final

from shared.messages import quantity
from shared.model.document import Metadata
from shared.model.schema import CONTAINER, FILE_PATH, SECTION

AUTHOR: Final = "author"
SUBJECT: Final = "subject"
KEYWORDS: Final = "keywords"
LANGUAGE: Final = "language"
CREATED: Final = "created"
MODIFIED: Final = "modified"
FILE_TYPE: Final = "file_type"
CREATOR: Final = "creator"
FILE_NAME: Final = "file_name"
FILE_EXTENSION: Final = "file_extension"
FILE_MODIFIED: Final = "file_modified"
FILE_SIZE: Final = "file_size"
CONTENT_HASH: Final = "content_hash"
INDEXED: Final = "indexed"
MESSAGE_ID: Final = "message_id"
THREAD: Final = "thread"
RECIPIENTS: Final = "recipients"
OCR_PAGES: Final = "ocr_pages"
OCR_CONFIDENCE: Final = "ocr_confidence"
PAGES_WITHOUT_TEXT: Final = "pages_without_text"

HIDDEN_TEXT: Final = "hidden_text"
LEFT_OUT: Final = "left_out"
OTHER: Final = "other"

ONLY_WITH_DOCUMENTS: Final = frozenset(
    {
        *(CREATOR, FILE_NAME, FILE_EXTENSION, FILE_SIZE, FILE_MODIFIED, CONTENT_HASH, INDEXED),
        *(MESSAGE_ID, RECIPIENTS, OCR_PAGES, OCR_CONFIDENCE, PAGES_WITHOUT_TEXT),
        *(HIDDEN_TEXT, LEFT_OUT, OTHER),
    }
)
"""Keys left out of hits and chunks: they describe the file and do not help to judge a passage."""

_KEYS_WITH_FIELDS: Final = ONLY_WITH_DOCUMENTS | {
    *(AUTHOR, SUBJECT, KEYWORDS, LANGUAGE, CREATED, MODIFIED, FILE_TYPE, CONTAINER, THREAD),
    *(FILE_PATH, SECTION),
}
"""Keys with a field in every index, whatever else there is."""

MAX_KEYS: Final = 50

MAX_FIELDS: Final = 1_000
"""Maximum number of fields of an index for keys that documents have chosen: every segment pays for
every field, and so does every search."""


_MOST_NAMED: Final = 5


def is_of_documents(key: str) -> bool:
    """Check whether a key has been chosen by documents."""
    return key not in _KEYS_WITH_FIELDS


def within_limits(metadata: Metadata, fields: set[str]) -> tuple[Metadata, list[str]]:
    """Return metadata within `MAX_KEYS` and `MAX_FIELDS`, and the keys that are too many."""
    left = MAX_KEYS - sum(not is_of_documents(key) for key in metadata)
    too_many: list[str] = []
    for key in filter(is_of_documents, metadata):
        if left > 0 and (key in fields or len(fields) < MAX_FIELDS):
            fields.add(key)
            left -= 1
        else:
            too_many.append(key)
    if not too_many:
        return metadata, too_many
    left_out = {*too_many}
    kept = {key: value for key, value in metadata.items() if key not in left_out}
    before = metadata.get(OTHER, [])
    others = (f"{key}: {json.dumps(metadata[key], ensure_ascii=False)}" for key in too_many)
    kept[OTHER] = [*(before if isinstance(before, list) else [before]), *others]
    return kept, too_many


def note_on_others(keys: Sequence[str]) -> str:
    """Return a sentence about keys that are too many."""
    shown = ", ".join(repr(key[:40]) for key in keys[:_MOST_NAMED])
    more = " …" if len(keys) > _MOST_NAMED else ""
    return (
        f"{quantity(len(keys), 'metadata key')} became text under {OTHER!r}, since a document has "
        f"fields for {MAX_KEYS} and an index for {MAX_FIELDS:,}: {shown}{more}"
    )


_KEYS_WITHOUT_WORDS: Final = frozenset(
    {
        *(LANGUAGE, CREATED, MODIFIED, FILE_TYPE, CREATOR, FILE_EXTENSION, CONTENT_HASH, INDEXED),
        *(CONTAINER, MESSAGE_ID, THREAD, FILE_MODIFIED),
    }
)
"""Keys whose text nobody searches by its words."""


def texts_of(metadata: Metadata) -> Iterator[str]:
    """Yield the metadata texts whose words are searched in addition to the content."""
    for key, value in metadata.items():
        if key not in _KEYS_WITHOUT_WORDS:
            values = value if isinstance(value, list) else [value]
            yield from (text for text in values if isinstance(text, str))


def chunk_metadata(metadata: Metadata) -> Metadata:
    """Return the metadata that is shown with a hit or a chunk."""
    return {key: value for key, value in metadata.items() if key not in ONLY_WITH_DOCUMENTS}
