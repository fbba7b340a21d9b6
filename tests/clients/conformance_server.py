"""The server with the tools and prompts that the conformance suite asks for.

Run as a module, with the arguments of `mcp-lucene`. Everything between a request and a tool is the
server's own: what stands before the SDK by HTTP, and the way tools, prompts and completions are
called.
"""

import base64
from typing import Any, Final, cast
from unittest.mock import patch

from mcp import MCPError
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts.base import Prompt, UserMessage
from mcp.server.subscriptions import PromptsListChanged, ToolsListChanged
from mcp.types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    ClientCapabilities,
    ContentBlock,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    EmbeddedResource,
    ImageContent,
    InputRequiredResult,
    SamplingCapability,
    SamplingMessage,
    TextContent,
    TextResourceContents,
)
from pydantic import BaseModel

from server.__main__ import main
from server.prompts import PROMPTS, PromptEntry
from server.search_server import SearchServer
from shared.errors import QueryError

_PIXEL: Final = ImageContent(
    type="image",
    mime_type="image/png",
    data="iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJg"
    "gg==",
)

_SILENCE: Final = AudioContent(
    type="audio",
    mime_type="audio/wav",
    data=base64.b64encode(
        b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0@\x1f\0\0\x80>\0\0\2\0\x10\0data\0\0\0\0"
    ).decode(),
)

AnyContext = Context[Any, Any]


class Person(BaseModel):
    """What a client is asked for."""

    username: str
    email: str


def _resource(uri: str) -> EmbeddedResource:
    contents = TextResourceContents(uri=uri, mime_type="text/plain", text="An embedded text.")
    return EmbeddedResource(type="resource", resource=contents)


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=text)


async def test_simple_text() -> ContentBlock:
    return _text("This is a simple text response for testing.")


async def test_image_content() -> ContentBlock:
    return _PIXEL


async def test_audio_content() -> ContentBlock:
    return _SILENCE


async def test_embedded_resource() -> ContentBlock:
    return _resource("test://embedded-resource")


async def test_multiple_content_types() -> list[ContentBlock]:
    return [_text("Multiple content types test:"), _PIXEL, _resource("test://mixed")]


async def test_error_handling() -> ContentBlock:
    raise QueryError("This tool intentionally returns an error for testing")


async def test_tool_with_progress(context: AnyContext) -> ContentBlock:
    for progress in (0, 50, 100):
        await context.report_progress(progress, 100)
    return _text("done")


async def test_sampling(prompt: str, context: AnyContext) -> ContentBlock:
    asked = SamplingMessage(role="user", content=_text(prompt))
    answered = await context.request_context.session.create_message([asked], max_tokens=100)
    return _text(f"LLM response: {answered.content}")


async def test_elicitation(message: str, context: AnyContext) -> ContentBlock:
    return _text(f"User response: {await context.elicit(message, Person)}")


async def test_missing_capability(context: AnyContext) -> ContentBlock:
    sampling = ClientCapabilities(sampling=SamplingCapability())
    if not context.request_context.session.check_client_capability(sampling):
        needed = sampling.model_dump(by_alias=True, exclude_none=True)
        raise MCPError(
            MISSING_REQUIRED_CLIENT_CAPABILITY,
            "the client cannot sample",
            {"requiredCapabilities": needed},
        )
    return _text("Success")


async def test_streaming_elicitation(context: AnyContext) -> ContentBlock:
    return await test_tool_with_progress(context)


async def test_logging_tool() -> ContentBlock:
    return _text("nothing is logged")


async def test_trigger_tool_change(context: AnyContext) -> ContentBlock:
    return await _told_of(context, ToolsListChanged())


async def test_trigger_prompt_change(context: AnyContext) -> ContentBlock:
    return await _told_of(context, PromptsListChanged())


async def _told_of(
    context: AnyContext, change: ToolsListChanged | PromptsListChanged
) -> TextContent:
    changes = await cast("SearchServer", context.mcp_server).resources.changes()
    await changes.bus.publish(change)
    return _text("The subscribers were told.")


async def test_input_required_result_elicitation(
    context: AnyContext,
) -> ContentBlock | InputRequiredResult:
    return _text(name) if (name := _answered(context, "user_name")) else _asking("user_name")


async def test_simple_prompt() -> str:
    return "This is a simple prompt for testing."


async def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """Return a prompt of the conformance suite."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


async def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:  # noqa: N803 - the suite's name
    return [UserMessage(_resource(resourceUri)), UserMessage("Please process the resource above.")]


async def test_prompt_with_image() -> list[UserMessage]:
    return [UserMessage(_PIXEL), UserMessage("Please analyze the image above.")]


async def test_input_required_result_prompt(context: AnyContext) -> str | InputRequiredResult:
    return _answered(context, "user_context") or _asking("user_context")


def _asking(key: str) -> InputRequiredResult:
    schema = {"type": "object", "properties": {"value": {"type": "string"}}}
    asked = ElicitRequestFormParams(message=f"What is the {key}?", requested_schema=schema)
    return InputRequiredResult(input_requests={key: ElicitRequest(params=asked)})


def _answered(context: AnyContext, key: str) -> str:
    match (context.input_responses or {}).get(key):
        case ElicitResult(content=content):
            return f"The {key} is {content}"
    return ""


_TOOLS: Final = (
    test_simple_text,
    test_image_content,
    test_audio_content,
    test_embedded_resource,
    test_multiple_content_types,
    test_error_handling,
    test_tool_with_progress,
    test_sampling,
    test_elicitation,
    test_missing_capability,
    test_streaming_elicitation,
    test_logging_tool,
    test_trigger_tool_change,
    test_trigger_prompt_change,
    test_input_required_result_elicitation,
)

_PROMPTS: Final = (
    test_simple_prompt,
    test_prompt_with_embedded_resource,
    test_prompt_with_image,
    test_input_required_result_prompt,
)


class ConformanceServer(SearchServer):
    """The server, with what the suite asks for beside what it has."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        # Completions are made for the prompts of the table.
        PROMPTS["test_prompt_with_arguments"] = PromptEntry(
            "A prompt", test_prompt_with_arguments, ()
        )
        super().__init__(*arguments, **options)
        for tool in _TOOLS:
            self.add_tool(
                tool, description="A tool of the conformance suite", structured_output=False
            )
        for prompt in _PROMPTS:
            self.add_prompt(
                Prompt.from_function(prompt, description="A prompt of the conformance suite")
            )


if __name__ == "__main__":
    with patch("server.http.application.SearchServer", ConformanceServer):
        main()
