"""Requests are answered from the collections of their tokens, and never from more by mistake."""

from pathlib import Path

import pytest
from mcp.server.auth.middleware.auth_context import auth_context_var
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken

from server.answers.errors import TokenMissingError
from server.lucene_pool import LucenePool
from server.settings import ServerSettings, limit_of
from server.state import ServerState


@pytest.mark.anyio
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
