"""Commands `idx open` and `idx mcp-config`."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final

import typer

from idx.cli.options import DEFAULT_INDEX_PATH, IndexPath, Json
from idx.clients.catalogue import CLIENTS, PROGRAM, Launch, Scope, installed_program
from idx.output.printing import print_json, say, tell, warn
from shared.backends import holds_index, location
from shared.errors import McpLuceneError
from shared.messages import did_you_mean, visible_json


class PageServerError(McpLuceneError):
    """The server of the search page did not start, or ended by itself; its message says why."""


def open_page(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[WORD]...",
            help="Words to search for at once. Put -- before words that begin with a minus.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65_535, help="Port of the page; 0 selects a free one.")
    ] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address only.")
    ] = False,
    index_path: IndexPath = DEFAULT_INDEX_PATH,
) -> None:
    """Open the search page of the index in the browser.

    A server runs on this machine until Ctrl-C ends it; other machines cannot reach it.

    Examples: idx open; idx open vacation days
    """
    import webbrowser
    from urllib.parse import urlencode

    if not holds_index(index_path):
        warn(f"there is no index at {index_path} yet; the page shows it once idx sync made it")
    with _running(index_path, port) as server:
        address = _address(server)
        if query := " ".join(words or ()):
            address += f"?{urlencode({'q': query})}"
        typer.echo(address)
        if not no_browser and not webbrowser.open(address):
            say("No browser could be opened; open the address yourself.")
        say("Ctrl-C ends the server.")
        for line in server.stderr or ():
            say(line.rstrip("\n"))
        raise PageServerError(f"{PROGRAM} ended with the exit code {server.wait()}")


_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")  # server names that every client accepts


def _checked_client(client: str) -> str:
    if client not in CLIENTS:
        hint = did_you_mean(client.lower(), CLIENTS, f"there are {', '.join(CLIENTS)}")
        raise typer.BadParameter(f"{client!r} is not known; {hint}")
    return client


def _checked_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise typer.BadParameter("it may have up to 64 letters, digits, hyphens and underscores")
    return name


def _completed(incomplete: str) -> list[str]:
    return [client for client in CLIENTS if client.startswith(incomplete)]


def mcp_config(
    client: Annotated[
        str,
        typer.Argument(
            metavar="CLIENT",
            callback=_checked_client,
            autocompletion=_completed,
            help=f"The client: {', '.join(CLIENTS)}.",
        ),
    ],
    write: Annotated[
        bool, typer.Option("--write", help="Write it to the client's file, after a backup.")
    ] = False,
    name: Annotated[
        str,
        typer.Option(
            metavar="NAME", callback=_checked_name, help="Name of the server in the client."
        ),
    ] = "mcp-lucene",
    scope: Annotated[
        Scope | None,
        typer.Option(help="Use the user's file, or that of the project in the current folder."),
    ] = None,
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    as_json: Json = False,
) -> None:
    """Print a client's configuration for this server, or write it to the client's file.

    Everything else in the file stays unchanged, comments included. An existing entry with the same
    name is shown and replaced as a whole if it starts mcp-lucene, and is an error if it starts
    another server.

    Examples: idx mcp-config claude-desktop; idx mcp-config cursor --write --index-path ~/index
    """
    from idx.clients.config_files import Written, example, write as write_to

    known = CLIENTS[client]
    if scope is None:
        scope = known.scopes[0]
    if scope not in known.scopes:
        raise typer.BadParameter(f"{known.title} has no file for a {scope}", param_hint="'--scope'")
    file = known.file(scope)
    # Links are not resolved, because their targets may change.
    index = location(os.path.normpath(index_path))
    launch = Launch(str(installed_program()), (str(index),))
    text = example(known, name, launch)
    written = write_to(known, file, name, launch) if write else None
    if as_json:
        print_json(
            {
                "client": client,
                "file": str(file),
                "name": name,
                "entry": known.shape(launch),
                "text": text,
                "documentation": known.documentation,
                **asdict(written or Written("printed")),
            }
        )
    elif written is None:
        # The strings of TOML have the escapes of those of JSON.
        typer.echo(visible_json(text), nl=False)
        say(f"Add it to {file}, or use --write. See {known.documentation}")
    elif written.outcome == "unchanged":
        tell(f"{name} is already in {file}; nothing was changed.")
    else:
        kept = f" (before: {written.backup})" if written.backup else ""
        done_to = "Added {} to" if written.outcome == "added" else "Changed {} in"
        tell(f"{done_to.format(name)} {file}{kept}")
        if written.replaced:
            replaced = visible_json(json.dumps(written.replaced, ensure_ascii=False))
            say(f"Replaced all of: {replaced}")
    if written and written.outcome != "unchanged":
        say(f"Restart {known.title} to start the server.")
    if not holds_index(index):
        warn(f"there is no index at {index} yet; the server waits for it")


_ANNOUNCEMENT: Final = "Listening on "
_MCP_PATH: Final = "mcp"

_STOP_SECONDS: Final = 15.0  # for the server to end in order before it is killed


@contextmanager
def _running(index_path: Path, port: int) -> Iterator["subprocess.Popen[str]"]:
    """Run a server for the block, on a free port for 0; the index may come later."""
    program, index = str(installed_program()), str(location(index_path))
    process = subprocess.Popen(
        [
            *(program, index, "--http", "--port", str(port)),
            *("--log-level", "error", "--until-stdin-ends"),
        ],
        # The system closes this pipe however this process ends, and then the server ends, too.
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
    )
    try:
        yield process
    finally:
        if process.stdin:
            process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_STOP_SECONDS)
        process.kill()
        process.wait()


def _address(process: "subprocess.Popen[str]") -> str:
    """Wait until the server listens, and return the address of its page."""
    last = f"{PROGRAM} ended without a message"
    for line in process.stderr or ():
        if line.startswith(_ANNOUNCEMENT):
            return line.removeprefix(_ANNOUNCEMENT).strip().removesuffix(_MCP_PATH)
        last = line.strip().removeprefix("Error: ") or last
    raise PageServerError(last)
