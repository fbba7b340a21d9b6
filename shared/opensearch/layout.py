"""The layout of an index on a cluster: settings, mapping and version, and the names of its fields.

`index.json` is what an index is created with. Its text fields get the terms that this project's
analyzers make, with blanks between them, so that the cluster only has to cut them there.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote

from shared.installation import software_version
from shared.model import schema
from shared.model.weights import DEFAULT_WEIGHTS

STATE_ID: Final = "state"
"""Id of the document with the state of the index."""

BATCH: Final = "batch"
VERSION: Final = "version"
"""Fields with the number of the batch that a chunk was written with, and with the version of its
document."""

BLANK: Final = "\x01"
EMPTY: Final = "\x03"
ALTERNATIVES: Final = "\x02"
"""Signs that no text has: for a blank in a term, for an empty term, and between the terms that a
query has at one position."""

KIND: Final = "kind"
FILE: Final = "file"
FAILURE: Final = "failure"
"""Field and values that tell the state of a file, or why one cannot be read, from a chunk."""

IN_ORDER: Final = ({schema.SOURCE_DOCUMENT: "asc"}, {schema.CHUNK_INDEX: "asc"})
"""Order of the documents, and of the chunks of each."""

_CREATION: Final = Path(__file__).with_name("index.json")

_NAMES: Final = {schema.REVERSED: "reversed", schema.METADATA: "metadata_text"}

_IN_DESCRIPTIONS: Final = re.compile(r"\b(reversed|metadata_text|(metadata|number)\.[^:\s]+)(?=:)")
"""Names of fields in a description of a query that differ from those of the schema."""

_BLANK_OF_TERM: Final = re.compile(rf"(?<!\\){BLANK}")
"""Blank in a term, as opposed to one of the signs in an expression for words within values."""

_OBJECTS: Final = (schema.METADATA, schema.NUMBER)


def creation(shards: int | None = None, replicas: int | None = None) -> dict[str, Any]:
    """Return the body of the request that creates an index; None for what the file says."""
    body: dict[str, Any] = json.loads(_CREATION.read_text("utf-8"))
    index = body["settings"]["index"]
    index["similarity"]["default"] |= {"k1": DEFAULT_WEIGHTS.k1, "b": DEFAULT_WEIGHTS.b}
    if shards is not None:
        index["number_of_shards"] = shards
    if replicas is not None:
        index |= {"number_of_replicas": replicas, "auto_expand_replicas": "false"}
    body["mappings"]["_meta"] = {
        schema.COMMIT_SCHEMA: schema.SCHEMA_VERSION,
        schema.COMMIT_SOFTWARE: software_version(),
    }
    return body


def replicas_in(settings: Mapping[str, Any]) -> int | None:
    """Return the number of replicas that somebody chose for an index; None if nobody did."""
    chosen = str(settings.get("auto_expand_replicas", "false")) == "false"
    return int(settings["number_of_replicas"]) if chosen else None


def field(name: str) -> str:
    """Return the field on the cluster for a field of the schema."""
    for prefix in _OBJECTS:
        if name.startswith(f"{prefix}."):
            return f"{prefix}.{_encoded(name.removeprefix(f'{prefix}.'))}"
    return _NAMES.get(name, name)


def fields_of(mapping: Mapping[str, Any]) -> frozenset[str]:
    """Return the fields of the schema that a mapping of the cluster has."""
    properties = mapping.get("properties", {})
    own = {name for name in _OF_CHUNKS if field(name) in properties}
    keys = {
        f"{prefix}.{unquote(key)}"
        for prefix in _OBJECTS
        for key in properties.get(prefix, {}).get("properties", {})
    }
    return frozenset(own | keys)


_OF_CHUNKS: Final = (
    *(schema.ID, schema.TITLE, schema.CONTENT, schema.REVERSED, schema.STEMS, schema.TITLE_STEMS),
    *(schema.LANGUAGES, schema.PATH, schema.DIGITS, schema.SOURCE_DOCUMENT, schema.CHUNK_INDEX),
    *(schema.METADATA, schema.FINGERPRINT),
)


def _encoded(key: str) -> str:
    """Return a metadata key as the name of a field, in which a dot would have a meaning."""
    return quote(key, safe=" ").replace(".", "%2E").replace(" ", "%20").replace("~", "%7E")


def readable(description: str) -> str:
    """Return a description of a query by the cluster with the names of the schema and its terms."""
    return _BLANK_OF_TERM.sub(" ", _IN_DESCRIPTIONS.sub(_name, description))


def _name(found: re.Match[str]) -> str:
    name = found[0]
    own = {of: known for known, of in _NAMES.items()}
    prefix, _, key = name.partition(".")
    return f"{prefix}.{unquote(key)}" if key else own.get(name, name)


def sent(term: str) -> str:
    """Return a term as the cluster has it, which cuts texts at blanks."""
    if not term:
        return EMPTY
    return BLANK.join(term.split()) if any(map(str.isspace, term)) else term


def received(term: str) -> str:
    """Return a term of the cluster as it is here."""
    return "" if term == EMPTY else term.replace(BLANK, " ")
