"""What is read of a resource, and how much of it."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from mcp.types import ReadResourceResult, TextResourceContents
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import to_json

from server.answers.argument_errors import describe
from server.answers.errors import ResourceNotFoundError
from server.answers.fence import fenced_parts
from server.answers.text import DEFAULT_CHARACTERS
from server.resources.uris import ResourceUri
from server.tools.arguments import MaxCharacters
from shared.settings.defaults import MAX_COUNT

TEXT: Final = "text/plain"
JSON: Final = "application/json"
"""Media types."""

_SHARE_OF_META: Final = 4
"""What is told beside a text takes at most this part of an answer."""


class Options(BaseModel):
    """How a resource is to be read, where there is no choice."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class LengthOptions(Options):
    """How much of a resource is to be read.

    Attributes:
        max_characters: the longest answer.
    """

    max_characters: MaxCharacters = DEFAULT_CHARACTERS


class PartOptions(LengthOptions):
    """Which part of a document is to be read.

    Attributes:
        start_index: the first chunk's number, from 1.
        count: how many chunks; None for all that follow.
    """

    start_index: Annotated[int, Field(ge=1, le=MAX_COUNT)] = 1
    count: Annotated[int, Field(ge=1, le=MAX_COUNT)] | None = None


def options_of(uri: ResourceUri, model: type[Options]) -> Any:
    """The options of a URI, each of its type.

    Args:
        uri: the URI.
        model: what options there are.

    Raises:
        ResourceNotFoundError: one is of a wrong type or range, or does not exist.
    """
    try:
        return model.model_validate(dict(uri.options))
    except ValidationError as error:
        raise ResourceNotFoundError(str(uri), describe(error, model)) from error


def fits_beside(known: dict[str, Any], options: LengthOptions) -> bool:
    """Whether some of what is known of a text leaves enough of the answer to the text.

    Args:
        known: what would be told beside the text, and can be cut.
        options: how long the answer may be.
    """
    return len(to_json(fenced_parts(known)).decode()) <= options.max_characters // _SHARE_OF_META


@dataclass(frozen=True)
class Contents:
    """What is read of a resource.

    Attributes:
        text: the text.
        mime_type: its media type.
        meta: what is told beside it.
    """

    text: str
    mime_type: str = TEXT
    meta: dict[str, Any] = field(default_factory=dict)

    def as_result(self, uri: str) -> ReadResourceResult:
        """The answer to a request for a URI, which repeats it as it was spelled."""
        text = TextResourceContents(
            uri=uri, mime_type=self.mime_type, text=self.text, _meta=self.meta or None
        )
        return ReadResourceResult(contents=[text])
