"""Where the index stands among the arguments of the server."""

import pytest
from typer.main import get_command

from idx.clients.launch import FLAGS, Launch
from server.app import app

ENDING = {"--version", "--install-completion", "--show-completion"}
"""Flags with which the server does not serve."""


def test_every_flag_of_the_server_is_known() -> None:
    flags = {
        name
        for option in get_command(app).params
        if getattr(option, "is_flag", False)
        for name in (*option.opts, *option.secondary_opts)
    }
    assert flags - ENDING == FLAGS


@pytest.mark.parametrize(
    ("arguments", "index", "options"),
    [
        ("", None, ""),
        ("/old", "/old", ""),
        ("/old --fence --tools search", "/old", "--fence --tools search"),
        ("--fence /old", "/old", "--fence"),
        ("--tools search", None, "--tools search"),
        ("--tools search /old --admin", "/old", "--tools search --admin"),
        ("--time-budget=5 --root /docs /old", "/old", "--time-budget=5 --root /docs"),
        ("--root --fence /old", "/old", "--root --fence"),
    ],
)
def test_options_stay_wherever_the_index_stands(
    arguments: str, index: str | None, options: str
) -> None:
    launch = Launch("mcp-lucene", tuple(arguments.split()))
    assert launch.index_path == index
    changed = Launch("mcp-lucene", ("/new",)).with_options_of(launch)
    assert changed.arguments == ("/new", *options.split())
