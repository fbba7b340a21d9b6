"""Checks of the MCP clients that are configured to start this server."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from idx.clients.catalogue import CLIENTS
from idx.clients.client import Client, Scope
from idx.clients.config_files import servers
from idx.clients.errors import ClientConfigurationError
from idx.clients.launch import Launch, launch_in
from idx.doctor.finding import Finding, Findings
from shared.errors import ConfigurationError, IndexPathError
from shared.files.access import is_folder
from shared.files.cluster_path import index_path, is_cluster
from shared.settings.current import configured
from shared.settings.defaults import INDEX_PATH_VARIABLE


def clients() -> Findings:
    """Check the entries of this server in the files of all known clients."""
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
        if launch and launch.starts_this_server:
            again = f"idx mcp-config {client.id} --scope {scope} --name {name} --write"
            index = launch.index_path or _index_path_without(entry)
            yield _entry(client, f"{name} in {file}", launch, index, again)


def _index_path_without(entry: Mapping[str, Any]) -> str | None:
    """Return the index of a server whose arguments name none; None for the built-in default."""
    for key in ("env", "environment"):
        variables = entry.get(key)
        if isinstance(variables, Mapping) and variables.get(INDEX_PATH_VARIABLE):
            return str(variables[INDEX_PATH_VARIABLE])
    try:
        path = configured("index_path")
    except ConfigurationError:
        # Reported by the check of the configuration.
        return None
    return path and str(path)


def _entry(client: Client, where: str, launch: Launch, index: str | None, again: str) -> Finding:
    if shutil.which(launch.program) is None:
        return Finding(
            client.title,
            "problem",
            f"{where} starts {launch.program}, which is not a program here; write the entry again: "
            f"{again}",
        )
    if index is not None and is_cluster(index):
        return _entry_of_cluster(client, where, launch, index, again)
    if index is None or not os.path.isabs(index):  # noqa: PTH117 - text of another program
        return Finding(
            client.title,
            "warning",
            f"{where} names no absolute path of an index, so the server looks for one where the "
            f"client starts it; write it anew: {again}",
        )
    if not is_folder(index):
        return Finding(
            client.title,
            "problem",
            f"{where} names the index {index}, which does not exist, or cannot be reached; create "
            f"it with idx init, or name another: {again} --index-path PATH",
        )
    return Finding(client.title, "ok", f"{where} starts {launch.program} on {index}")


def _entry_of_cluster(
    client: Client, where: str, launch: Launch, index: str, again: str
) -> Finding:
    try:
        path = index_path(index)
    except IndexPathError as error:
        message = f"{where}: {error}; write it again: {again} --index-path URL"
        return Finding(client.title, "problem", message)
    return Finding(client.title, "ok", f"{where} starts {launch.program} on {path}")
