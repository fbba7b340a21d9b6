"""The MCP server: its tools, prompts and resources, its lifespan, and errors as answers."""

import inspect
import os
import sys
import threading
import traceback
from collections.abc import AsyncIterator, Set as AbstractSet
from contextlib import ExitStack, asynccontextmanager, nullcontext
from typing import Any, Final

import anyio
from mcp.server import MCPServer
from mcp.server.auth.provider import TokenVerifier
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp.types import (
    CallToolResult,
    GetPromptResult,
    InputRequiredResult,
    TextContent,
)
from pydantic import ValidationError
from pydantic_core import to_json

from server.administration.errors import ScopeMissingError
from server.answers import argument_errors
from server.answers.errors import brief_error, client_message, keep_errors_brief
from server.answers.fence import FENCE, fence_answers, fenced_answer
from server.completion import Completions
from server.pipes.flow_control import CountedWriteStream, FlowControl, ThrottledReadStream
from server.pipes.invalid_lines import AnsweredReadStream
from server.pipes.stderr_queue import drain_stderr
from server.prompts.errors import check_request, prompt_error
from server.prompts.instructions import add_instructions, general_instructions
from server.prompts.table import chosen_prompts
from server.resources.handlers import ResourceHandlers
from server.resources.watcher import MAX_WATCHED
from server.runtime.scopes import Scope, granted_scopes
from server.runtime.state import ServerState, ToolContext
from server.settings import HttpSettings, ServerSettings
from server.tools.schema import short_input_schema, short_output_schema
from server.tools.table import TOOLS, ToolEntry, chosen_tools
from shared.errors import McpLuceneError
from shared.model.schema import COLLECTION
from shared.model.search_results import LEFT_OUT, without_unknown
from shared.version import software_version

MAX_ARGUMENTS: Final = 100
"""Maximum number of arguments of a call, far above any tool's: describing each error takes time."""

_ADDED_BY_CLIENTS: Final = frozenset(
    {
        # n8n
        *("action", "chatInput", "sessionId", "tool", "toolCallId"),
        # Gemini CLI, Cursor, LangChain, and what belongs beside the arguments
        *("wait_for_previous", "random_string", "tool_call_id", "_meta"),
    }
)
"""Arguments that client programs add to each call on their own account; they are ignored."""

_LAST_MESSAGE_SECONDS: Final = 1.0
"""Time for a client that has closed stdin to read the last message, in seconds."""

_FENCE_SCHEMA: Final = {"type": "string"}


class SearchServer(MCPServer[ServerState]):
    """An MCP server whose tools answer an invalid call with an explanation.

    Args:
        state: the state shared by the handlers; the pool is closed when the server ends.
        auth: the SDK's authentication settings over HTTP; None if no token is required.
        token_verifier: verifies tokens; given together with `auth`.
        max_streams: maximum number of open streams of `subscriptions/listen`.
        max_watched: maximum number of resources that one token can subscribe to, over all its
            clients.

    Raises:
        ServerOptionError: the choice of tools is invalid.
    """

    def __init__(
        self,
        state: ServerState,
        *,
        auth: AuthSettings | None = None,
        token_verifier: TokenVerifier | None = None,
        max_streams: int = HttpSettings.max_sessions,
        max_watched: int = MAX_WATCHED,
    ) -> None:
        self.state = state
        self.resources = ResourceHandlers(state, max_streams, max_watched)
        self._offered = chosen_tools(state.settings)

        @asynccontextmanager
        async def lifespan(_: MCPServer[ServerState]) -> AsyncIterator[ServerState]:
            administration = state.administration
            with state.pool, state.renderer:
                async with (
                    self.resources.running(),
                    administration.running() if administration else nullcontext(),
                ):
                    yield state

        super().__init__(
            name="mcp-lucene",
            title="Document search",
            instructions=general_instructions(state),
            version=software_version(),
            tools=[_tool(name, entry, state.settings) for name, entry in self._offered.items()],
            lifespan=lifespan,
            middleware=[keep_errors_brief, add_instructions, fence_answers],
            log_level="WARNING",
            auth=auth,
            token_verifier=token_verifier,
        )
        prompts = chosen_prompts(state.settings)
        for prompt in prompts:
            self.add_prompt(prompt)
        self.resources.register(self._lowlevel_server)
        Completions(prompts).register(self._lowlevel_server)

    async def run_stdio_async(self) -> None:
        """Serve over stdin and stdout until stdin ends."""
        # A duplicate, since the SDK replaces stdin.
        stdin = os.dup(sys.stdin.fileno())
        flow = FlowControl(stdin)
        with ExitStack() as ends:
            ends.callback(os.close, stdin)
            async with stdio_server() as (received, sent):
                error = None
                try:
                    await self._serve(received, CountedWriteStream(sent, flow), flow)
                except Exception as raised:
                    error = raised
                    raise
                finally:
                    # Running writes get a moment to finish. A full pipe would otherwise block the
                    # exit forever, and so would the thread that reads stdin.
                    end = threading.Timer(_LAST_MESSAGE_SECONDS, _end_process, [error])
                    end.daemon = True
                    end.start()
                    ends.callback(end.cancel)

    async def _serve(
        self,
        received: ReadStream[SessionMessage | Exception],
        sent: WriteStream[SessionMessage],
        flow: FlowControl,
    ) -> None:
        """Serve one client until it disconnects."""
        low_level = self._lowlevel_server
        messages = ThrottledReadStream(AnsweredReadStream(received, sent), flow)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(flow.watch)
            await low_level.run(messages, sent, low_level.create_initialization_options())
            tasks.cancel_scope.cancel()

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any],
        context: ToolContext | None = None,
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool; an invalid call gets an explanation as its answer.

        An argument that is null is treated as missing, since some clients send every argument, and
        so is one that clients are known to add.

        Raises:
            ToolError: the tool failed unexpectedly.
        """
        ignored = self._ignored_arguments(name)
        given = {
            key: value
            for key, value in arguments.items()
            if value is not None and key not in ignored
        }
        if context is not None and self._needs_scope(name) - granted_scopes(context):
            return _error_result(str(ScopeMissingError(name)))
        if len(given) > MAX_ARGUMENTS:
            return _error_result(f"{name}: there are {len(given):,} arguments, which are too many")
        try:
            return _with_json_text(await super().call_tool(name, given, context))
        except ToolError as error:
            is_unforeseen = isinstance(error, UnexpectedToolError)
            match error.__cause__:
                case ValidationError() as invalid if not is_unforeseen:
                    text = f"{name}: {argument_errors.describe(invalid, TOOLS[name].function)}"
                case McpLuceneError() as known:
                    text = client_message(known)
                case None:
                    text = str(error)
                case _:
                    raise
            return _error_result(text)

    def _ignored_arguments(self, name: str) -> AbstractSet[str]:
        """Return arguments that clients add to calls of a tool that has none of the name."""
        if (entry := self._offered.get(name)) is None:
            return _ADDED_BY_CLIENTS
        return _ADDED_BY_CLIENTS - inspect.signature(entry.function).parameters.keys()

    def _needs_scope(self, name: str) -> frozenset[Scope]:
        """Return the scopes that a call needs besides ``read``, which every request needs."""
        entry = self._offered.get(name)
        return frozenset({"admin"}) if entry and entry.group == "admin" else frozenset()

    async def get_prompt(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        context: ToolContext | None = None,
    ) -> GetPromptResult | InputRequiredResult:
        """Create the text of a prompt.

        Raises:
            MCPError: the request is invalid.
            ValueError: the prompt failed unexpectedly.
        """
        check_request(name, arguments or {}, await self.list_prompts())
        try:
            return await super().get_prompt(name, arguments, context)
        except ValueError as error:
            if (known := prompt_error(name, error)) is None:
                raise
            raise known from error


def _end_process(error: Exception | None) -> None:
    if error is not None:
        traceback.print_exception(error)
    drain_stderr()
    os._exit(0 if error is None else 1)


def _error_result(text: str) -> CallToolResult:
    content = TextContent(type="text", text=brief_error(text))
    return CallToolResult(content=[content], is_error=True)


def _with_json_text(
    result: CallToolResult | InputRequiredResult,
) -> CallToolResult | InputRequiredResult:
    """Return the answer fenced and without unknown values.

    The text content is the JSON of the structured content; a picture precedes it.
    """
    if not isinstance(result, CallToolResult) or result.structured_content is None:
        return result
    structured = fenced_answer(without_unknown(result.structured_content))
    text = TextContent(type="text", text=to_json(structured).decode())
    pictures = [part for part in result.content if not isinstance(part, TextContent)]
    content = [*pictures, text]
    return result.model_copy(update={"content": content, "structured_content": structured})


def _tool(name: str, entry: ToolEntry, settings: ServerSettings) -> Tool:
    tool = Tool.from_function(
        entry.function,
        name=name,
        title=entry.title,
        description=inspect.getdoc(entry.function),
        annotations=entry.annotations,
        structured_output=True,
    )
    # The SDK drops unknown arguments, which would turn a search into a different one.
    arguments = tool.fn_metadata.arg_model
    arguments.model_config["extra"] = "forbid"
    arguments.model_rebuild(force=True)
    tool.parameters = short_input_schema(arguments.model_json_schema(by_alias=True))
    if not settings.collections:
        tool.parameters["properties"].pop(COLLECTION, None)
    if (result := tool.fn_metadata.output_schema) is not None:
        short = short_output_schema(result, LEFT_OUT)
        if settings.fence:
            short["properties"] |= {FENCE: _FENCE_SCHEMA}
            short["required"] = [FENCE, *short.get("required", [])]
        tool.fn_metadata.output_schema = short
    return tool
