"""Command `idx mcp-config`."""

import os
import re
from typing import Annotated, Final

import typer

from idx.cli.options import DEFAULT_INDEX_PATH, IndexPath, Json
from idx.clients.catalogue import CLIENTS
from idx.clients.client import Scope
from idx.output.printing import print_json, say, tell, warn
from shared.backends import holds_index, location
from shared.control_characters import visible_json
from shared.messages import did_you_mean

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""Pattern of server names that every client accepts."""


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
    import json
    from dataclasses import asdict

    from idx.clients.config_files import Written, example, write as write_to
    from idx.clients.launch import Launch, installed_program

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
        done = asdict(written or Written("printed"))
        print_json(
            {
                "client": client,
                "file": str(file),
                "name": name,
                "entry": known.shape(launch),
                "text": text,
                "documentation": known.documentation,
                **done,
                "backup": done["backup"] and str(done["backup"]),
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
