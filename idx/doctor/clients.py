"""The clients that are told of this server, and whether what they are told is true."""

import os
import shutil
from pathlib import Path

from idx.clients.catalogue import CLIENTS
from idx.clients.client import Client, Scope
from idx.clients.configuration import servers
from idx.clients.errors import ClientConfigurationError
from idx.clients.launch import Launch, launch_in
from idx.doctor.finding import Finding, Findings


def clients() -> Findings:
    """The entries of this server in the files of all known clients."""
    found = [
        finding
        for client in CLIENTS.values()
        # In the home folder, both scopes may have the same file.
        for file, scope in {client.file(scope): scope for scope in client.scopes[::-1]}.items()
        for finding in _client(client, file, scope)
    ]
    yield from found
    if not found:
        yield Finding(
            "Clients",
            "warning",
            "none of those known starts this server; choose one: idx mcp-config CLIENT --write",
        )


def _client(client: Client, file: Path, scope: Scope) -> Findings:
    try:
        entries = servers(client, file)
    except ClientConfigurationError as error:
        yield Finding(
            client.title, "warning", f"{file} {error.reason}; {client.title} cannot use it either"
        )
        return
    for name, entry in entries.items():
        launch = launch_in(entry)
        if launch and launch.is_of_this_server:
            again = f"idx mcp-config {client.id} --scope {scope} --name {name} --write"
            yield _entry(client, f"{name} in {file}", launch, again)


def _entry(client: Client, where: str, launch: Launch, again: str) -> Finding:
    if shutil.which(launch.program) is None:
        return Finding(
            client.title,
            "problem",
            f"{where} starts {launch.program}, which is no program here; write it anew: {again}",
        )
    index = launch.index_path
    if index is None or not os.path.isabs(index):  # noqa: PTH117 - it is a text of somebody else
        return Finding(
            client.title,
            "warning",
            f"{where} names no absolute path of an index, so the server looks for one where the "
            f"client starts it; write it anew: {again}",
        )
    if not Path(index).is_dir():
        return Finding(
            client.title,
            "problem",
            f"{where} names the index {index}, which does not exist; create it with idx init, or "
            f"name another: {again} --index-path PATH",
        )
    return Finding(client.title, "ok", f"{where} starts {launch.program} on {index}")
