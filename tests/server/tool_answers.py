"""What a tool answered, and that its text says the same."""

import json
from typing import Any

from mcp.types import CallToolResult, ResourceLink, TextContent


def answer(result: CallToolResult) -> dict[str, Any]:
    """The structured answer, which must be the text's too."""
    assert not result.is_error, result.content
    text, *links = result.content
    assert all(isinstance(link, ResourceLink) for link in links)
    assert isinstance(text, TextContent)
    assert json.loads(text.text) == result.structured_content
    structured: dict[str, Any] | None = result.structured_content
    assert structured is not None
    return structured


def error(result: CallToolResult) -> str:
    assert result.is_error
    assert result.structured_content is None
    (text,) = result.content
    assert isinstance(text, TextContent)
    return text.text
