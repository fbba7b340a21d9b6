"""The MCP server: its tools, prompts and resources, its lifespan, and errors as answers.

Clients over stdin and stdout, or by a socket, may send lines that are not messages. The SDK skips
such a line. If it was meant as a request, its client would wait forever: half of a surrogate pair
is enough, which JavaScript and Java leave when they cut a string in the middle of a character. Over
HTTP the SDK itself responds.
"""

import inspect
import re
import threading
import traceback
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext
from functools import cache, partial
from importlib.resources import files
from typing import Any, Final

import anyio
from anyio.abc import ObjectSendStream
from mcp import MCPError, types
from mcp.server import MCPServer, Server
from mcp.server.apps import Apps
from mcp.server.auth.provider import TokenVerifier
from mcp.server.auth.settings import AuthSettings
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.runner import serve_dual_era_loop
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError
from pydantic_core import to_json

from server.answers.errors import (
    argument_errors,
    brief_error,
    client_message,
    protocol_error,
)
from server.answers.text import FENCE, ResourceUri, fenced_answer, one_answer
from server.extensions import APP_URI, TOOLS_OF_APP, Skills
from server.instructions import general_instructions, instructions
from server.log import end_process
from server.pictures.page import PNG
from server.prompts import check_request, chosen_prompts, complete, prompt_error
from server.relay import parsed_message
from server.resources.changes import RequestContext
from server.resources.handlers import TEMPLATES, ResourceHandlers, read_resource
from server.resources.reading import TEXT
from server.settings import HttpSettings, ServerSettings
from server.state import ServerState, ToolContext, granted_scopes
from server.tools import table
from server.tools.search import search
from shared.errors import McpLuceneError
from shared.installation import software_version
from shared.model.document import MEMBER_MARK
from shared.model.schema import COLLECTION
from shared.model.search_results import LEFT_OUT, without_unknown

_NAME: Final = "mcp-lucene"
_TITLE: Final = "Document search"

_LAST_MESSAGE_SECONDS: Final = 1.0  # for a client that has closed stdin to read the last message

_NO_MESSAGE: Final = (
    "the line is not a JSON-RPC 2.0 message: a request has jsonrpc, id, method and params"
)


async def _serve_streams(server: Server[Any], state: Any, lines: Any, sent: Any) -> None:
    # The SDK iterates over the messages that are left.
    passed_on, received = anyio.create_memory_object_stream[SessionMessage | Exception]()
    options = server.create_initialization_options()
    async with received, anyio.create_task_group() as tasks:
        tasks.start_soon(_answer_invalid_lines, lines, passed_on, sent)
        await serve_dual_era_loop(
            server, received, sent, lifespan_state=state, init_options=options
        )
        tasks.cancel_scope.cancel()


def _end_process(error: Exception | None) -> None:
    if error is not None:
        traceback.print_exception(error)
    end_process(0 if error is None else 1)


async def _answer_invalid_lines(
    lines: Any, passed_on: ObjectSendStream[SessionMessage | Exception], sent: Any
) -> None:
    async with lines, passed_on:
        async for item in lines:
            if not isinstance(item, ValidationError):
                await passed_on.send(item)
            elif (error := _answer(item)) is not None:
                await sent.send(SessionMessage(error))


def _answer(error: ValidationError) -> types.JSONRPCError | None:
    """Return the error response to a line that is not a message, from the error of parsing it.

    It has the id of the request if the line contains one (JSON-RPC 2.0, section 5). None for a
    blank line, and for a possible response, which must not be answered.
    """
    details = error.errors(include_url=False)
    first = details[0]
    message: Any
    if first["type"] == "json_invalid":
        line = str(first["input"])
        if not line.strip():
            return None
        # Python's parser accepts half of a surrogate pair.
        code, message = types.PARSE_ERROR, parsed_message(line)
        text = f"the line cannot be read: {first['msg']}"
    else:
        # The error lists what the message lacks for each of the four kinds of messages.
        whole = (d["input"] for d in details if d["type"] == "missing" and len(d["loc"]) == 2)  # noqa: PLR2004
        code, text, message = types.INVALID_REQUEST, _NO_MESSAGE, next(whole, None)
    if isinstance(message, dict) and message.keys() & {"result", "error"}:
        return None
    return types.JSONRPCError(
        jsonrpc="2.0", id=_request_id(message), error=types.ErrorData(code=code, message=text)
    )


def _request_id(message: Any) -> types.RequestId | None:
    match message:
        case {"id": bool()}:
            return None
        case {"id": int() as number}:
            return number
        case {"id": str() as name}:
            # Half of a surrogate pair is no text.
            return name if name == name.encode(errors="replace").decode() else None
    return None


MAX_ARGUMENTS: Final = 100  # far above any tool's, since describing each error takes time

_ADDED_BY_CLIENTS: Final = frozenset(
    {
        # n8n
        *("action", "chatInput", "sessionId", "tool", "toolCallId"),
        # Gemini CLI, Cursor, LangChain, and what belongs beside the arguments
        *("wait_for_previous", "random_string", "tool_call_id", "_meta"),
    }
)
"""Arguments that client programs add to each call on their own account; they are ignored."""

_FIRST_WITH_LINKS: Final = "2025-06-18"  # a client of an older version refuses links in results
_MOST_LINKS: Final = 5  # in an answer: some clients tell the model all of them
_MAX_LINK_CHARACTERS: Final = 500  # of a URI; a hit with a longer one has no link
_MAX_MARKED_CHARACTERS: Final = 80  # of a query whose words are marked on the page of a link


class SearchServer(MCPServer[ServerState]):
    """An MCP server whose tools answer an invalid call with an explanation.

    It closes the pool of its state when it ends. Over HTTP `auth` and `token_verifier` are given
    together if a token is required.
    """

    def __init__(
        self,
        state: ServerState,
        *,
        auth: AuthSettings | None = None,
        token_verifier: TokenVerifier | None = None,
        max_streams: int = HttpSettings.max_sessions,
    ) -> None:
        self.state = state
        self.resources = ResourceHandlers(state, max_streams)
        self._offered = table.chosen_tools(state.settings)

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
            name=_NAME,
            title=_TITLE,
            instructions=general_instructions(state),
            version=software_version(),
            tools=[_tool(name, self._offered, state.settings) for name in self._offered],
            lifespan=lifespan,
            extensions=[Apps(), Skills()],
            middleware=[_finish_answers],
            log_level="WARNING",
            auth=auth,
            token_verifier=token_verifier,
        )
        prompts = chosen_prompts(state.settings)
        for prompt in prompts:
            self.add_prompt(prompt)
        self.resources.register(self._lowlevel_server)
        self._lowlevel_server.add_request_handler(
            "completion/complete",
            types.CompleteRequestParams,
            partial(complete, prompts=prompts),
        )

    async def run_stdio_async(self) -> None:
        async with stdio_server() as streams:
            error = None
            try:
                async with self.sessions() as serve_session:
                    await serve_session(*streams)
            except Exception as raised:
                error = raised
                raise
            finally:
                # Running writes get a moment to finish. A full pipe would otherwise block the exit
                # forever, and so would the thread that reads stdin.
                end = threading.Timer(_LAST_MESSAGE_SECONDS, _end_process, [error])
                end.daemon = True
                end.start()
        end.cancel()

    @asynccontextmanager
    async def sessions(self) -> AsyncIterator[Callable[[Any, Any], Awaitable[None]]]:
        """Lend a function that serves one client by two streams of the SDK, at any time."""
        server = self._lowlevel_server
        async with server.lifespan(server) as state:
            yield partial(_serve_streams, server, state)

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any],
        context: ToolContext | None = None,
    ) -> types.CallToolResult | types.InputRequiredResult:
        """Call a tool; an invalid call gets an explanation as its answer.

        An argument that is null is treated as missing, since some clients send every argument, and
        so is one that clients are known to add.
        """
        entry = self._offered.get(name)
        own = inspect.signature(entry.function).parameters if entry else {}
        given = {
            key: value
            for key, value in arguments.items()
            if value is not None and (key in own or key not in _ADDED_BY_CLIENTS)
        }
        if context is not None and entry is not None and entry.group == "admin":
            scopes = granted_scopes(context.request_context.request)
            if "admin" not in scopes:
                return _error_result(
                    f"{name} needs the scope 'admin', which the token of this request does not "
                    "have; ask the user for a token that has it"
                )
        if len(given) > MAX_ARGUMENTS:
            return _error_result(f"{name}: there are {len(given):,} arguments, which are too many")
        try:
            return _finished(await super().call_tool(name, given, context), context)
        except ToolError as error:
            is_unforeseen = isinstance(error, UnexpectedToolError)
            match error.__cause__:
                case ValidationError() as invalid if not is_unforeseen:
                    text = f"{name}: {argument_errors(invalid, table.TOOLS[name].function)}"
                case McpLuceneError() as known:
                    text = client_message(known)
                case None:
                    text = str(error)
                case _:
                    raise
            return _error_result(text)

    async def get_prompt(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        context: ToolContext | None = None,
    ) -> types.GetPromptResult | types.InputRequiredResult:
        check_request(name, arguments or {}, await self.list_prompts())
        try:
            return await super().get_prompt(name, arguments, context)
        except ValueError as error:
            if (known := prompt_error(name, error)) is None:
                raise
            raise known from error

    async def read_resource(
        self, uri: Any, context: ToolContext | None = None
    ) -> list[ReadResourceContents]:
        assert context is not None  # noqa: S101 - every request has one
        return [await read_resource(context, uri)]

    async def list_resource_templates(self) -> list[types.ResourceTemplate]:
        return [*TEMPLATES.values()]


@cache
def _icons() -> list[dict[str, Any]]:
    """Return the icon of the server, which only the first answer has: the SDK repeats its own."""
    content = files("server.pages").joinpath("static/icon.svg").read_bytes()
    source = f"data:image/svg+xml;base64,{b64encode(content).decode()}"
    return [{"src": source, "mimeType": "image/svg+xml", "sizes": ["any"]}]


_FIRST_METHODS: Final = ("initialize", "server/discover")  # one in each era of the protocol


async def _finish_answers(ctx: RequestContext, call_next: CallNext) -> HandlerResult:
    """Fence answers, explain errors, and complete the first answer to a client (middleware)."""
    state = ctx.lifespan_context
    try:
        with one_answer() if state.settings.fence else nullcontext():
            result = await call_next(ctx)
    except MCPError as error:
        # The SDK repeats parts of a request in them.
        detail = error.error
        data = brief_error(detail.data) if isinstance(detail.data, str) else detail.data
        raise MCPError(detail.code, brief_error(detail.message), data) from error
    except McpLuceneError as known:
        uri = (ctx.params or {}).get("uri")
        data = {"uri": brief_error(uri)} if isinstance(uri, str) else None
        raise protocol_error(known, data) from known
    if ctx.method in _FIRST_METHODS and isinstance(result, dict):
        result["instructions"] = await instructions(state)
        if ctx.method == "initialize":
            result["serverInfo"]["icons"] = _icons()
            # The SDK advertises notifications about list changes in the older handshake only for
            # servers that run the transport themselves.
            result["capabilities"]["resources"]["listChanged"] = True
        else:
            meta = result["_meta"] = result.get("_meta") or {}
            identity = {"name": _NAME, "title": _TITLE, "version": software_version()}
            meta[types.SERVER_INFO_META_KEY] = {**identity, "icons": _icons()}
    return result


def _error_result(text: str) -> types.CallToolResult:
    content = types.TextContent(type="text", text=brief_error(text))
    return types.CallToolResult(content=[content], is_error=True)


def _finished(
    result: types.CallToolResult | types.InputRequiredResult, context: ToolContext | None
) -> types.CallToolResult | types.InputRequiredResult:
    """Return the answer fenced and without unknown values.

    The text content is the JSON of the structured content; a picture precedes it, and links to the
    sources of the best hits follow it, if the client knows links.
    """
    if not isinstance(result, types.CallToolResult) or result.structured_content is None:
        return result
    structured = fenced_answer(without_unknown(result.structured_content))
    text = types.TextContent(type="text", text=to_json(structured).decode())
    pictures = [part for part in result.content if not isinstance(part, types.TextContent)]
    content = [*pictures, text]
    if context and context.request_context.protocol_version >= _FIRST_WITH_LINKS:
        best = structured.get("results", ())[:_MOST_LINKS]
        content += filter(None, (_link(hit, structured.get("query", "")) for hit in best))
    return result.model_copy(update={"content": content, "structured_content": structured})


def _link(hit: Any, query: str) -> types.ResourceLink | None:
    """Return the link to the page of a hit in a PDF, or to its chunk; None for another result."""
    match hit:
        case {"source_document": str(name), "file_path": str(path), "page_start": int(page)} if (
            path.lower().endswith(".pdf") and MEMBER_MARK not in name
        ):
            options = {"page": str(page), "query": query[:_MAX_MARKED_CHARACTERS]}
            uri, mime_type = ResourceUri("page", name, options), PNG
        case {"source_document": str(), "id": str(chunk)}:
            uri, mime_type = ResourceUri("chunk", chunk), TEXT
        case _:
            return None
    if len(str(uri)) > _MAX_LINK_CHARACTERS:
        return None
    return types.ResourceLink(
        type="resource_link", uri=str(uri), name=hit["id"], mime_type=mime_type
    )


def _tool(name: str, offered: Mapping[str, table.ToolEntry], settings: ServerSettings) -> Tool:
    entry = offered[name]
    has_page = entry.function is search and offered.keys() >= TOOLS_OF_APP
    tool = Tool.from_function(
        entry.function,
        name=name,
        title=entry.title,
        # Line breaks within a paragraph are those of the code.
        description=re.sub(r"(?<!\n)\n(?!\n)", " ", inspect.getdoc(entry.function) or ""),
        annotations=entry.annotations,
        structured_output=True,
        meta={"ui": {"resourceUri": APP_URI}} if has_page else None,
    )
    # The SDK drops unknown arguments, which would turn a search into a different one.
    arguments = tool.fn_metadata.arg_model
    arguments.model_config["extra"] = "forbid"
    arguments.model_rebuild(force=True)
    tool.parameters = table.short_input_schema(arguments.model_json_schema(by_alias=True))
    if not settings.collections:
        tool.parameters["properties"].pop(COLLECTION, None)
    if (result := tool.fn_metadata.output_schema) is not None:
        short = table.short_output_schema(result, LEFT_OUT)
        if settings.fence:
            short["properties"] |= {FENCE: {"type": "string"}}
            short["required"] = [FENCE]
        tool.fn_metadata.output_schema = short
    return tool
