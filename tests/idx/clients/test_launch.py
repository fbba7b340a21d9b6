"""Where the index stands among the arguments of the server."""

import pytest
from typer.main import get_command

from idx.clients.catalogue import FLAGS, Launch
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
    ("arguments", "index"),
    [
        ("", None),
        ("/old", "/old"),
        ("/old --fence --tools search", "/old"),
        ("--fence /old", "/old"),
        ("--tools search", None),
        ("--tools search /old --admin", "/old"),
        ("--time-budget=5 --root /docs /old", "/old"),
        ("--root --fence /old", "/old"),
    ],
)
def test_the_index_is_found_wherever_it_stands(arguments: str, index: str | None) -> None:
    assert Launch("mcp-lucene", tuple(arguments.split())).index_path == index
