"""What a request may do is what its token says, in every version of the protocol."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import MCPServer

from server.http.access import authentication
from server.http.tokens import read_tokens
from server.settings import HttpSettings
from server.state import ToolContext, granted_scopes

READER, ADMIN = "r" * 40, "a" * 40


async def scopes(context: ToolContext) -> list[str]:
    """Tell what the request may do."""
    return sorted(granted_scopes(context))


async def told(client: Client) -> list[str]:
    result = await client.call_tool("scopes", {})
    assert result.structured_content is not None
    granted: list[str] = result.structured_content["result"]
    return granted


@contextmanager
def listening(server: MCPServer) -> Iterator[str]:
    """Serve by HTTP in a thread; yields the URL."""
    config = uvicorn.Config(server.streamable_http_app(), port=0, log_config=None, lifespan="on")
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run)
    thread.start()
    while not running.started:
        time.sleep(0.05)
    try:
        yield f"http://127.0.0.1:{running.servers[0].sockets[0].getsockname()[1]}/mcp"
    finally:
        running.should_exit = True
        thread.join()


@pytest.mark.anyio
async def test_on_this_machine_everything_may_be_done() -> None:
    server = MCPServer("test")
    server.add_tool(scopes)
    async with Client(server) as client:
        assert await told(client) == ["admin", "read"]


URL = "http://127.0.0.1/mcp"


@pytest.mark.anyio
async def test_over_http_without_authentication_nothing_may_be_changed() -> None:
    server = MCPServer("test")
    server.add_tool(scopes)
    with listening(server) as url:
        for mode in ("auto", "legacy"):
            async with Client(url, mode=mode) as client:
                assert await told(client) == ["read"]


@pytest.mark.anyio
async def test_over_http_the_token_says_what_may_be_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDX_TOKENS", f"alice:read:{READER} root:read,admin:{ADMIN}")
    how = authentication(HttpSettings(), read_tokens(None), (URL, URL))
    assert how is not None
    server = MCPServer("test", auth=how.settings, token_verifier=how)
    server.add_tool(scopes)
    with listening(server) as url:
        for token, granted in [(READER, ["read"]), (ADMIN, ["admin", "read"])]:
            for mode in ("auto", "legacy"):
                async with (
                    httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as sender,
                    Client(streamable_http_client(url, http_client=sender), mode=mode) as client,
                ):
                    assert await told(client) == granted
