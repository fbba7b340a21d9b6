"""What a tool answered, and that its text says the same."""

import json
from typing import Any

from mcp import Client
from mcp.types import CallToolResult, ResourceLink, TextContent


def answer(result: CallToolResult) -> dict[str, Any]:
    """The structured answer, which must be the text's too."""
    assert not result.is_error, result.content
    assert json.loads(text_of(result)) == result.structured_content
    structured: dict[str, Any] | None = result.structured_content
    assert structured is not None
    return structured


def text_of(result: CallToolResult) -> str:
    """The text of an answer, which links may follow."""
    text, *links = result.content
    assert all(isinstance(link, ResourceLink) for link in links)
    assert isinstance(text, TextContent)
    return text.text


def error(result: CallToolResult) -> str:
    assert result.is_error
    assert result.structured_content is None
    assert len(result.content) == 1
    return text_of(result)


async def told(client: Client, tool: str, /, **arguments: Any) -> dict[str, Any]:
    return answer(await client.call_tool(tool, arguments))


async def refused(client: Client, tool: str, /, **arguments: Any) -> str:
    return error(await client.call_tool(tool, arguments))
