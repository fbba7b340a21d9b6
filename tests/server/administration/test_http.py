"""By HTTP only a token with the scope administers, and the end of the server ends a crawl."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from mcp.client.session import ClientRequestContext
from mcp.types import ElicitRequestParams, ElicitResult

from server.tools.table import TOOLS
from tests.server.administration.administered import ended, is_alive, until, writer
from tests.server.http.served import SECONDS, client_of, served
from tests.server.tool_answers import refused, told

READER, ADMIN = "r" * 40, "a" * 40
TOKENS = f"reader:read:{READER} operator:read,admin:{ADMIN}"


async def say_yes(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
    return ElicitResult(action="accept", content={"delete_all": True})


asking = partial(client_of, asked=say_yes)


async def test_a_token_without_the_scope_changes_nothing_and_one_with_it_does(
    empty_index: Path, root: Path, papers: Path
) -> None:
    options = ("--admin", "--root", root)
    with served(empty_index, *options, tokens=TOKENS) as server:
        for mode in ("auto", "legacy"):
            async with asking(server, READER, mode) as client:
                for name in [name for name, tool in TOOLS.items() if tool.group == "admin"]:
                    message = await refused(client, name)
                    assert message.startswith(f"{name} needs the scope 'admin', which the token")
                assert (await told(client, "Search", query=""))["totalHits"] == 0
        async with asking(server, ADMIN) as client:
            assert (await told(client, "admin_status"))["recent"] == []
            await told(client, "start_crawl", directories=[str(papers)])
            assert (await ended(client))["progress"]["added"] == 2
        assert ADMIN not in server.logged()


@pytest.mark.soak
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_user_elsewhere_is_asked_before_everything_is_deleted(
    empty_index: Path, root: Path, papers: Path, mode: str
) -> None:
    options = ("--admin", "--root", root)
    with served(empty_index, *options, tokens=TOKENS) as server:
        async with asking(server, ADMIN, mode) as client:
            await told(client, "start_crawl", directories=[str(papers)])
            await ended(client)
            purge: dict[str, Any] = await told(client, "purge_index")
            result = (await ended(client, purge["operation_id"]))["result"]
            assert result["deleted_documents"] == 2


@pytest.mark.soak
async def test_the_end_of_the_server_ends_its_crawl(
    empty_index: Path, root: Path, many_files: Path
) -> None:
    options = ("--admin", "--root", root)
    with served(empty_index, *options, tokens=TOKENS) as server:
        async with asking(server, ADMIN) as client:
            await told(client, "start_crawl", directories=[str(many_files)])
            await until(client, lambda status: status["progress"]["added"] > 0)
            crawl = await writer(client)
        server.process.terminate()
        assert server.process.wait(timeout=SECONDS) == 0
        assert not is_alive(crawl)
        assert "error=" not in server.logged()
