"""Contents of resources, and the options in their URIs."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from mcp.types import ReadResourceResult, TextResourceContents
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import to_json

from server.answers.argument_errors import describe
from server.answers.errors import ResourceNotFoundError
from server.answers.fence import fenced_parts
from server.answers.text import DEFAULT_CHARACTERS
from server.answers.uris import ResourceUri
from server.tools.arguments import MaxCharacters
from shared.settings.defaults import MAX_COUNT

TEXT: Final = "text/plain"
JSON: Final = "application/json"
"""Media types of resources."""

_METADATA_BUDGET_DIVISOR: Final = 4
"""Divisor of the budget: the metadata of a text takes at most this part of a response."""


class Options(BaseModel):
    """Options of a resource without options."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class LengthOptions(Options):
    """Option for the length of a response.

    Attributes:
        max_characters: maximum length of the response, in characters.
    """

    max_characters: MaxCharacters = DEFAULT_CHARACTERS


class PartOptions(LengthOptions):
    """Options for a part of a document.

    Attributes:
        start_index: number of the first chunk, from 1.
        count: number of chunks; None for all that follow.
    """

    start_index: Annotated[int, Field(ge=1, le=MAX_COUNT)] = 1
    count: Annotated[int, Field(ge=1, le=MAX_COUNT)] | None = None


def options_of(uri: ResourceUri, model: type[Options]) -> Any:
    """Return the validated options of a URI.

    Args:
        uri: the URI.
        model: the model of the allowed options.

    Raises:
        ResourceNotFoundError: an option is unknown, or its value is invalid.
    """
    try:
        return model.model_validate(dict(uri.options))
    except ValidationError as error:
        raise ResourceNotFoundError(str(uri), describe(error, model)) from error


def fits_beside(known: dict[str, Any], options: LengthOptions) -> bool:
    """Check whether metadata leaves enough of a response for the text.

    Args:
        known: the metadata that can be cut.
        options: the maximum length of the response.
    """
    return (
        len(to_json(fenced_parts(known)).decode())
        <= options.max_characters // _METADATA_BUDGET_DIVISOR
    )


@dataclass(frozen=True)
class Contents:
    """The contents of a resource.

    Attributes:
        text: the text.
        mime_type: its media type.
        meta: its metadata.
    """

    text: str
    mime_type: str = TEXT
    meta: dict[str, Any] = field(default_factory=dict)

    def as_result(self, uri: str) -> ReadResourceResult:
        """Return the response to a read request; it repeats the URI as the client spelled it."""
        text = TextResourceContents(
            uri=uri, mime_type=self.mime_type, text=self.text, _meta=self.meta or None
        )
        return ReadResourceResult(contents=[text])
