"""The arguments that tools have in common, with their bounds and what a model is told of them."""

from typing import Annotated

from pydantic import Field

from server.budget import DEFAULT_CHARACTERS, MAX_CHARACTERS

ChunkId = Annotated[
    str,
    Field(min_length=1, description="Id of a chunk, as Search and the chunk tools return it."),
]

DocumentId = Annotated[
    str, Field(min_length=1, description="Id of a document: source_document of a result.")
]

FieldName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=256,
        description="A field by its name in list_fields: content, title, or a key of the metadata "
        "such as author.",
    ),
]

Offset = Annotated[int, Field(ge=0, le=1_000_000, description="Results to skip, for paging.")]

MaxCharacters = Annotated[
    int,
    Field(
        ge=2_000,
        le=MAX_CHARACTERS,
        description="Longest answer; texts are cut to fit and the answer says so. "
        f"Default {DEFAULT_CHARACTERS:,}.",
    ),
]
