"""What a request may do, and of which collections it is answered, is what its token says."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import MCPServer
from mcp.server.auth.middleware.auth_context import auth_context_var
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken

from server.answers.errors import TokenMissingError
from server.http.access import authentication
from server.http.tokens import read_tokens
from server.lucene_pool import LucenePool
from server.settings import HttpSettings, ServerSettings, limit_of
from server.state import ServerState, ToolContext, granted_scopes

READER, ADMIN = "r" * 40, "a" * 40


async def scopes(context: ToolContext) -> list[str]:
    """Tell what the request may do."""
    return sorted(granted_scopes(context.request_context.request))


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


async def test_on_this_machine_everything_may_be_done() -> None:
    server = MCPServer("test")
    server.add_tool(scopes)
    async with Client(server) as client:
        assert await told(client) == ["admin", "read"]


URL = "http://127.0.0.1/mcp"


async def test_over_http_without_authentication_nothing_may_be_changed() -> None:
    server = MCPServer("test")
    server.add_tool(scopes)
    with listening(server) as url:
        for mode in ("auto", "legacy"):
            async with Client(url, mode=mode) as client:
                assert await told(client) == ["read"]


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


async def test_a_request_without_a_token_is_not_answered_where_all_need_one(
    empty_index: Path,
) -> None:
    with LucenePool(empty_index) as pool:
        state = ServerState(ServerSettings(empty_index), pool, needs_token=True)
        with pytest.raises(TokenMissingError, match="this needs a token"):
            await state.ask(lambda searcher: searcher.statistics())
        token = AccessToken(token="", client_id="guest", scopes=["read", "collection=none"])
        reset = auth_context_var.set(AuthenticatedUser(token))
        try:
            assert state.limit() == frozenset({"none"})
            found = await state.ask(lambda searcher: list(searcher.collections))
        finally:
            auth_context_var.reset(reset)
        assert found == []
        open_to_all = ServerState(ServerSettings(empty_index), pool)
        assert (await open_to_all.ask(lambda searcher: searcher.statistics())).documents == 0


@pytest.mark.parametrize(
    ("scopes", "limit"),
    [
        ([], None),
        (["read", "admin"], None),
        (["read", "collection=a", "collection=b"], {"a", "b"}),
        (["collection="], {""}),
        (["collections=a", "xcollection=a"], None),
    ],
)
def test_a_limit_is_what_the_scopes_name(scopes: list[str], limit: set[str] | None) -> None:
    assert limit_of(scopes) == limit
