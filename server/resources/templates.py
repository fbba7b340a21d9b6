"""The table of resource templates."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from mcp.types import ResourceTemplate

from server.answers.uris import FORMS
from server.resources.contents import JSON, TEXT
from server.runtime.known_values import Completer, chunk_ids, document_ids, field_names, languages


@dataclass(frozen=True)
class TemplateEntry:
    """A resource template.

    Attributes:
        name: its name.
        title: its display name.
        description: a description of the contents at its URIs.
        mime_type: the media type of the contents.
        completers: the completers of its variables, by name.
    """

    name: str
    title: str
    description: str
    mime_type: str = TEXT
    completers: Mapping[str, Completer] = field(default_factory=dict)


TEMPLATES: Final[Mapping[str, TemplateEntry]] = {
    FORMS["document"]: TemplateEntry(
        "document",
        "Document",
        "The text of a document by its id. A long text is cut at 40,000 characters, and says how "
        "to continue.",
        completers={"id": document_ids},
    ),
    FORMS["document"] + "{?start_index,count,max_characters}": TemplateEntry(
        "document_part",
        "Part of a document",
        "The text of a document from chunk number start_index on: count chunks, or as many as "
        "fit into max_characters.",
        completers={"id": document_ids},
    ),
    FORMS["chunk"]: TemplateEntry(
        "chunk",
        "Chunk of a document",
        "The text of a chunk by its id, about 250 words. Its position in the file and the URIs "
        "of its neighbours are in _meta.",
        completers={"id": chunk_ids},
    ),
    FORMS["field"]: TemplateEntry(
        "field",
        "Values of a field",
        "The most frequent words or values of a field, with the number of chunks of each.",
        JSON,
        completers={"field": field_names},
    ),
    FORMS["language"]: TemplateEntry(
        "language",
        "Documents in a language",
        "The documents in a language, by its ISO 639-1 code.",
        JSON,
        completers={"language": languages},
    ),
}
"""The templates by URI template (RFC 6570)."""


def templates() -> list[ResourceTemplate]:
    """Return the templates as protocol types."""
    return [
        ResourceTemplate(
            uri_template=template,
            name=entry.name,
            title=entry.title,
            description=entry.description,
            mime_type=entry.mime_type,
        )
        for template, entry in TEMPLATES.items()
    ]
