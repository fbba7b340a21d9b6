"""Check of the MCP server, which is started like a client would start it and queried."""

import tempfile
import time
from pathlib import Path
from typing import Any, Final, TextIO, cast

from idx.clients.launch import ProgramMissingError, installed_program
from idx.doctor.checks import Finding, Findings

SERVER_TIMEOUT_SECONDS: Final = 60
"""Timeout from the start of the server to its last answer, in seconds."""

_TOOL_CALLS: Final[dict[str, dict[str, Any]]] = {
    "index_stats": {},
    "Search": {"query": "", "limit": 1},
}
"""Tools to call, with their arguments."""


def server(index_path: Path) -> Findings:
    """Start `mcp-lucene` on an index and call its tools over stdin and stdout."""
    import anyio
    from mcp import MCPError

    try:
        program = installed_program()
    except ProgramMissingError:
        # Reported by the check of the programs.
        return
    started = time.perf_counter()
    with tempfile.TemporaryFile("w+", errors="replace") as log:
        try:
            tools, errors = anyio.run(_ask, program, index_path, cast("TextIO", log))
        except (MCPError, OSError, ExceptionGroup) as error:
            log.seek(0)
            lines = [line.strip() for line in log if line.strip()]
            yield Finding(
                "Server",
                "problem",
                f"{program} {index_path} cannot be asked: {_reason(error, lines)}; start it in a "
                "terminal to see more",
            )
            return
    seconds = time.perf_counter() - started
    told = f"started, asked for its {tools} tools and called {len(_TOOL_CALLS)} in {seconds:.1f} s"
    if errors:
        yield Finding("Server", "problem", f"{told}; it answered: {errors[0]}")
    else:
        yield Finding("Server", "ok", told)


async def _ask(program: Path, index_path: Path, log: TextIO) -> tuple[int, list[str]]:
    """Start the server as clients of the SDK do, and return its number of tools and the errors of
    calls.
    """
    import anyio
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client
    from mcp.types import TextContent

    parameters = StdioServerParameters(command=str(program), args=[str(index_path)])
    with anyio.fail_after(SERVER_TIMEOUT_SECONDS):
        async with Client(stdio_client(parameters, log)) as client:
            tools = (await client.list_tools()).tools
            answers = [await client.call_tool(name, given) for name, given in _TOOL_CALLS.items()]
    texts = [
        content.text
        for answer in answers
        if answer.is_error
        for content in answer.content
        if isinstance(content, TextContent)
    ]
    return len(tools), texts


def _reason(error: BaseException, lines: list[str]) -> str:
    """Return the last message of the server, or else the error of the client."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, TimeoutError):
        return f"it took more than {SERVER_TIMEOUT_SECONDS} s"
    return lines[-1] if lines else str(error)
