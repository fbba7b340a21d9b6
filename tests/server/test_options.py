"""Which tools a server offers is chosen by whoever starts it, and so is administration."""

from pathlib import Path

import pytest

from tests.conftest import Connect
from tests.server.administration.administered import administered
from tests.server.http.served import refused
from tests.server.tool_answers import error

TOKEN = "t" * 40


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--admin"], "--admin needs --root PATH"),
        (["--root", "."], "--root needs --admin"),
        pytest.param(
            ["--admin", "--root", "/no such folder"],
            "--root: there is no folder /no such folder",
            marks=pytest.mark.soak,
        ),
        pytest.param(
            ["--admin", "--root", __file__],
            f"--root: {__file__} is not a folder",
            marks=pytest.mark.soak,
        ),
        (["--tools", "admin"], "--tools admin: the administration tools need --admin"),
        pytest.param(
            ["--tools", "Search,start_crawl"],
            "--tools start_crawl: the administration tools need --admin",
            marks=pytest.mark.soak,
        ),
        pytest.param(
            ["--tools", "admim"],
            "no tool or group of tools 'admim'; did you mean 'admin'",
            marks=pytest.mark.soak,
        ),
        (["--tools", "Serch"], "no tool or group of tools 'Serch'; did you mean 'Search'"),
        (["--tools", ""], "--tools names no tool"),
        (["--tools", " , "], "--tools names no tool"),
        (["--exclude-tools", "q"], "no tool or group of tools 'q'; there are search, browse,"),
        (["--exclude-tools", "search,browse"], "no tool is left to offer"),
    ],
)
def test_options_that_do_not_fit_are_told(
    empty_index: Path, options: list[str], message: str
) -> None:
    assert message in refused(*options, index=empty_index)


@pytest.mark.parametrize(
    ("options", "tokens", "message"),
    [
        ([], "", "--admin with --http: there is no authentication"),
        pytest.param(
            ["--insecure"],
            "",
            "--admin with --http: there is no authentication",
            marks=pytest.mark.soak,
        ),
        ([], f"alice:read:{TOKEN}", "--admin with --http: no token has the scopes read and admin"),
        ([], f"root:admin:{TOKEN}", "--admin with --http: no token has the scopes read and admin"),
    ],
)
def test_nobody_administers_by_http_without_the_scope(
    empty_index: Path, tmp_path: Path, options: list[str], tokens: str, message: str
) -> None:
    options = ["--http", "--port", "0", "--admin", "--root", str(tmp_path), *options]
    assert message in refused(*options, index=empty_index, tokens=tokens)


@pytest.mark.soak
async def test_without_the_option_no_tool_administers(empty_index: Path, connect: Connect) -> None:
    async with connect() as client:
        assert not any("crawl" in tool.name for tool in (await client.list_tools()).tools)
        assert "Unknown tool" in error(await client.call_tool("start_crawl", {}))
        assert "crawl" not in (client.instructions or "")


@pytest.mark.soak
async def test_tools_of_administration_can_be_left_out(empty_index: Path, tmp_path: Path) -> None:
    async with administered(empty_index, tmp_path, "--exclude-tools", "admin") as client:
        assert [tool.name for tool in (await client.list_tools()).tools][-1] == ("show_page")
    async with administered(empty_index, tmp_path, "--tools", "Search,admin_status") as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == [
            "Search",
            "admin_status",
        ]


SEARCH = ["Search", "more_like", "explain_query", "suggest_terms", "top_terms", "list_fields"]


@pytest.mark.parametrize(
    ("options", "offered"),
    [
        (["--tools", "search"], SEARCH),
        (["--tools", "Search, get_next_chunk"], ["Search", "get_next_chunk"]),
        (["--exclude-tools", "browse"], SEARCH),
        (
            ["--tools", "search", "--exclude-tools", "explain_query,top_terms,list_fields"],
            ["Search", "more_like", "suggest_terms"],
        ),
    ],
)
async def test_tools_are_chosen_by_name_and_by_group(
    empty_index: Path, connect: Connect, options: list[str], offered: list[str]
) -> None:
    async with connect(*options) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == offered
        excluded = await client.call_tool("ListDocuments", {})
        assert excluded.is_error
