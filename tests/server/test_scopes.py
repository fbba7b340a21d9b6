"""What a request may do, and of which collections it is answered, is what its token says."""

from pathlib import Path
from typing import Any

import pytest
from mcp import Client
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
from tests.server.http.served import client_of, serving

READER, ADMIN = "r" * 40, "a" * 40


async def scopes(context: ToolContext) -> list[str]:
    """Tell what the request may do."""
    return sorted(granted_scopes(context.request_context.request))


def telling_scopes(**options: Any) -> MCPServer:
    server = MCPServer("test", **options)
    server.add_tool(scopes)
    return server


async def granted_to(client: Client) -> list[str]:
    result = await client.call_tool("scopes", {})
    assert result.structured_content is not None
    granted: list[str] = result.structured_content["result"]
    return granted


async def test_on_this_machine_everything_may_be_done() -> None:
    async with Client(telling_scopes()) as client:
        assert await granted_to(client) == ["admin", "read"]


async def test_over_http_without_authentication_nothing_may_be_changed() -> None:
    async with serving(telling_scopes()) as served:
        for mode in ("auto", "legacy"):
            async with Client(served.url, mode=mode) as client:
                assert await granted_to(client) == ["read"]


async def test_over_http_the_token_says_what_may_be_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDX_TOKENS", f"alice:read:{READER} root:read,admin:{ADMIN}")
    url = "http://127.0.0.1/mcp"
    how = authentication(HttpSettings(), read_tokens(None), (url, url))
    assert how is not None
    async with serving(telling_scopes(auth=how.settings, token_verifier=how)) as served:
        for token, granted in [(READER, ["read"]), (ADMIN, ["admin", "read"])]:
            for mode in ("auto", "legacy"):
                async with client_of(served, token, mode) as client:
                    assert await granted_to(client) == granted


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
