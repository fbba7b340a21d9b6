"""Schema of the index, the only module that spells the names of fields.

Every chunk is one Lucene document. The first five fields are public and never change their names or
meaning.

| field              | Lucene type                      | stored | why                             |
|--------------------|----------------------------------|--------|---------------------------------|
| `id`               | keyword                          | yes    | find a chunk by its id          |
| `title`            | text                             | yes    | searched beside the content     |
| `content`          | text                             | yes    | searched and shown              |
| `source_document`  | keyword, sorted doc values       | yes    | replace, delete, walk, list     |
| `chunk_index`      | int point, numeric doc values    | yes    | the order of a document's chunks|
| `stems`            | text without positions           | no     | "contracts" finds "contract"    |
| `title_stems`      | text without positions           | no     | the same for titles             |
| `path`             | text without positions           | no     | names of the file and folders   |
| `digits`           | terms only                       | no     | runs of digits, backwards       |
| `languages`        | keyword                          | no     | language of the stems           |
| `content.reversed` | terms only                       | no     | `*contract` as fast as a prefix |
| `metadata`         | text without positions           | no     | the text of authors, keywords … |
| `details`          | -                                | yes    | JSON, see below                 |
| `file_state`       | binary doc values                | no     | size, time, hash; chunk 1 only  |
| `vector`           | binary doc values                | no     | search by meaning, if it is on  |
| `fingerprint`      | keywords, binary doc values      | no     | versions of a text; last chunk  |
| `metadata.KEY`     | keyword, sorted set doc values   | no     | filters on text                 |
| `number.KEY`       | double point, numeric doc values | no     | filters on numbers              |

The details are shown but never searched. They share one field, which is several times faster than
six: ``title``, ``chunk_count`` and number of ``words`` of the whole document, its ``metadata``, the
chunk's ``place`` (section, lines, pages, characters), and the file it was made from: the prefix of
its ``folder`` and its ``file_path`` within it.

The section of a chunk is also a value of the metadata key ``section``, and so is each section
around it. The indexed title is that of the document; the stored one may end with the number of the
chunk.

Text is analyzed by `shared.analysis`. Without positions, phrases cannot be searched; with terms
only, term frequencies are unknown, too. A keyword is indexed unchanged, as one term.
"""

import hashlib
import unicodedata
from typing import Final

from shared.errors import InvalidTextError

SCHEMA_VERSION: Final = 5
"""Version of the schema, raised whenever older indexes must be rebuilt to be searched correctly."""

REBUILT_VERSIONS: Final = (2, 3, 4, SCHEMA_VERSION)
"""Schema versions with these stored fields, so that their indexes can be rebuilt."""

ID: Final = "id"
TITLE: Final = "title"
CONTENT: Final = "content"
REVERSED: Final = f"{CONTENT}.reversed"
STEMS: Final = "stems"
TITLE_STEMS: Final = "title_stems"
SECTION: Final = "section"
LANGUAGES: Final = "languages"
DIGITS: Final = "digits"
PATH: Final = "path"
SOURCE_DOCUMENT: Final = "source_document"
CHUNK_INDEX: Final = "chunk_index"
DETAILS: Final = "details"
METADATA: Final = "metadata"
NUMBER: Final = "number"
FILE_PATH: Final = "file_path"
FILE_STATE: Final = "file_state"
VECTOR: Final = "vector"
FINGERPRINT: Final = "fingerprint"

FOLDER: Final = "folder"
"""Field for filters by the names of the folders that contain a file."""

COLLECTION: Final = "collection"
"""Field for filters and facets by collection."""

VERSION_OF: Final = "version_of"
"""Field for filters by the id of a document: it stands for all versions of the same text."""

CONTAINER: Final = "container"
"""Metadata key of what is within a file: the id of the file's own document."""

RESERVED_KEYS: Final = frozenset({FOLDER, COLLECTION, VERSION_OF, CONTAINER, FILE_PATH, SECTION})
"""Names that mean something in every index, whatever documents say of themselves."""

STEM_FIELDS: Final = (STEMS, TITLE_STEMS)
"""Fields whose terms begin with the code of a language and a colon."""

KEYWORD_FIELDS: Final = (ID, SOURCE_DOCUMENT)
"""Fields with one term each: queries on them are not analyzed."""

COMMIT_SCHEMA: Final = "mcp-lucene.schema"
COMMIT_SOFTWARE: Final = "mcp-lucene.version"
COMMIT_LUCENE: Final = "lucene.version"
COMMIT_FOLDERS: Final = "mcp-lucene.folders"
COMMIT_MODEL: Final = "mcp-lucene.sentence-model"
"""Keys of a commit's user data: the version of the schema, of the software and of the Lucene that
wrote it, the folders that its documents come from, and the sentence model of its vectors."""

COMMIT_LIMITED: Final = "mcp-lucene.limited"
"""Key of the user data of a commit in memory that shows only a part of the index; never stored."""

MAX_WORD: Final = 255
"""Maximum length of a word, in characters; longer ones are encoded data and not indexed."""

_MAX_KEYWORD_BYTES: Final = 32_000
"""Maximum length of a keyword, in bytes; Lucene refuses terms over 32,766
(``IndexWriter.MAX_TERM_LENGTH``)."""


def is_keyword_field(field: str) -> bool:
    """Check whether the terms of a field are whole values: ids and metadata."""
    return field in KEYWORD_FIELDS or field.startswith(f"{METADATA}.")


def is_number_field(field: str) -> bool:
    """Check whether a field has the numeric values of a metadata key."""
    return field.startswith(f"{NUMBER}.")


def metadata_field(key: str) -> str:
    """Return the field with a metadata value as text."""
    return f"{METADATA}.{key}"


def number_field(key: str) -> str:
    """Return the field with a numeric metadata value as a number."""
    return f"{NUMBER}.{key}"


def keyword(value: str) -> str:
    """Return the term of a keyword value.

    Returns the value itself or, if it is too long for a Lucene term, as much of its beginning as
    fits, followed by the SHA-256 of the whole, so that different values stay different.
    """
    term = encoded(value)
    if len(term) <= _MAX_KEYWORD_BYTES:
        return value
    return f"{_beginning(term)}\0{hashlib.sha256(term).hexdigest()}"


_MAX_SPELLINGS: Final = 990
"""Maximum length of an expression for a value in any spelling; clusters take 1,000 characters."""


def any_spelling(value: str) -> str | None:
    """Return a regular expression for a keyword value whose accents may be characters of their own.

    macOS separates the accents in names of files, and people type composed letters.

    Returns None if no letter of the value can be spelled in both ways, or it is too long.
    """
    composed = unicodedata.normalize("NFC", value)
    if unicodedata.is_normalized("NFD", composed):
        return None
    expression = ""
    for letter in composed:
        separate = unicodedata.normalize("NFD", letter)
        is_one = separate == letter
        expression += literal(letter) if is_one else f"({literal(letter)}|{literal(separate)})"
    return expression if len(expression) <= _MAX_SPELLINGS else None


def literal(text: str) -> str:
    """Return a regular expression of Lucene for a text as it is."""
    return "".join(sign if sign.isalnum() else f"\\{sign}" for sign in text)


def keyword_prefix(prefix: str) -> str:
    """Return a prefix of keyword values, cut to the part that the terms of long values keep."""
    return _beginning(encoded(prefix))


def encoded(text: str) -> bytes:
    """Return a text in UTF-8."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidTextError(text, error.start) from error


def _beginning(encoded: bytes) -> str:
    """Return the part of a text that precedes the hash in the term of a long value."""
    return encoded[: _MAX_KEYWORD_BYTES - 65].decode(errors="ignore")
