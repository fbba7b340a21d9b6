"""Checks of the machine, the settings and the clients, and what they find."""

import os
import platform
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

from idx.cli.configured_command import warnings_of_variables
from idx.clients.catalogue import (
    CLIENTS,
    Client,
    ClientConfigurationError,
    Launch,
    ProgramMissingError,
    Scope,
    installed_program,
    launch_in,
)
from idx.clients.config_files import servers
from idx.extraction.programs import find_libreoffice, find_tesseract, installed_languages
from shared.backends import location
from shared.errors import ConfigurationError, IndexPathError, InstallationError, JavaStartError
from shared.files.access import is_folder
from shared.files.index_folder import index_path as absolute_path, is_cluster
from shared.installation import (
    extra_command,
    lucene_versions,
    missing_libraries,
    software_version,
    upgrade_command,
)
from shared.messages import reason_of
from shared.settings.current import configuration_file, configured, java_heap
from shared.settings.defaults import (
    DEFAULT_INDEX_PATH,
    INDEX_PATH_VARIABLE,
    VARIABLES,
    default_java_heap,
)
from shared.system import address_space_limit

Status = Literal["ok", "warning", "problem"]
"""Result of a check: nothing to report, something worth knowing, or something broken."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Finding of a check, on one line: what was found and, unless all is well, what helps."""

    check: str
    message: str
    status: Status


Findings = Iterator[Finding]

ok = partial(Finding, status="ok")
warning = partial(Finding, status="warning")
problem = partial(Finding, status="problem")


_MIN_FREE_BYTES: Final = 50_000_000
"""Minimum free space on a disk, in bytes; with less, writing is likely to fail."""


Value = TypeVar("Value")


def valid(read: Callable[[], Value], default: Value) -> Value:
    """Return what is configured; the default if that is invalid, which `settings` reports."""
    try:
        return read()
    except ConfigurationError:
        return default


def python() -> Findings:
    release, system = platform.python_version(), platform.system()
    where = f"Python {release} on {system} {platform.release()} ({platform.machine()})"
    if system == "Linux":
        yield ok("Python", where)
    else:
        yield warning(
            "Python",
            f"{where}: mcp-lucene is made on Linux, and tested less elsewhere; use a container if "
            "something fails",
        )
    try:
        program = installed_program()
    except ProgramMissingError as error:
        yield problem("Programs", str(error))
    else:
        yield ok("Programs", f"{program}, version {software_version()}")


def extras() -> Findings:
    for extra, libraries in missing_libraries().items():
        install = f"not installed; for what needs it: {extra_command(extra)}"
        yield ok("Extra", f"{extra}: {install if libraries else 'installed'}")


def ocr() -> Findings:
    program = find_tesseract()
    if program is None:
        yield ok(
            "OCR",
            "Tesseract is not installed, so that scanned pages are not read; on Debian and Ubuntu: "
            "apt install tesseract-ocr, and tesseract-ocr-deu for German and so on; on macOS: brew "
            "install tesseract",
        )
        return
    languages = installed_languages(program)
    if languages:
        yield ok("OCR", f"{program} reads {', '.join(languages)}")
    else:
        yield warning("OCR", f"{program} names no languages: install some for it")


def libreoffice() -> Findings:
    program = find_libreoffice()
    missing = "LibreOffice is not installed, so that .doc and .ppt of 1997 to 2003 are not read"
    yield ok("Old Office", f"{program} reads .doc and .ppt" if program else missing)


def memory() -> Findings:
    limit = address_space_limit()
    if limit is None:
        yield ok("Memory", "no limit on the address space")
    else:
        yield warning(
            "Memory",
            f"{limit / 1e9:.1f} GB of address space are allowed, which Java and the whole index "
            "must fit into; raise the limit if searches fail: ulimit -v unlimited",
        )


def disk(index_path: Path) -> Findings:
    place = next(path for path in (index_path, *index_path.parents) if is_folder(path))
    try:
        free = shutil.disk_usage(place).free
        # An index that does not exist yet needs no space for a second copy.
        files = [*os.scandir(place)] if place == index_path else []
        size = sum(file.stat(follow_symlinks=False).st_size for file in files)
    except OSError as error:
        yield warning("Disk", f"{place} cannot be looked at: {reason_of(error)}")
        return
    found = f"{free / 1e6:,.0f} MB are free at {place}"
    if free < _MIN_FREE_BYTES:
        yield problem("Disk", f"{found}; writing will fail: free some space")
    elif free < size:
        yield warning(
            "Disk",
            f"{found}, and the index has {size / 1e6:,.0f} MB; idx rebuild needs room for a second "
            "one: free some space",
        )
    else:
        yield ok("Disk", found)


def lucene() -> Findings:
    try:
        import shared.java  # noqa: F401 - this looks at the installation

        package, release = lucene_versions()
    except InstallationError as error:
        yield problem("Lucene", str(error))
    else:
        yield ok("Lucene", f"Lucene {release}, pylucene {package}")


def java() -> Findings:
    from shared.java import startup_cache, vm

    os.environ[VARIABLES["java_heap"]] = str(valid(java_heap, default_java_heap()))
    yield from memory()
    cache = startup_cache.path()
    if cache.is_file():
        yield ok("Start-up cache", f"{cache}, {cache.stat().st_size / 1e6:.0f} MB")
    else:
        older = any(cache.parent.glob("lucene-*.aot"))
        yield warning(
            "Start-up cache",
            f"there is {'only one for another version of Lucene' if older else 'none'}, so every "
            "start takes three times as long; the first command that uses "
            f"an index makes it in the background. If {cache.parent} stays empty, make it: "
            "python -m shared.maintenance.train_startup",
        )
    started = time.perf_counter()
    try:
        vm.start()
    except JavaStartError as error:
        yield problem("Java", str(error))
    else:
        yield ok("Java", f"started in {time.perf_counter() - started:.2f} s")


def settings() -> Findings:
    from shared.settings.current import settings as all_settings
    from shared.settings.file import NOT_A_SETTING

    for text in warnings_of_variables():
        yield warning("Variables", text)
    file = configuration_file()
    try:
        origins = [setting.origin for setting in all_settings()]
    except ConfigurationError as error:
        newer = (
            f"; if a newer mcp-lucene than {software_version()} wrote it, upgrade: "
            f"{upgrade_command()}"
        )
        helps = newer if NOT_A_SETTING in str(error) else ""
        yield problem("Configuration", f"{error}; fix it, or remove it{helps}")
        return
    where = f"{file} sets {origins.count(str(file))} of {len(origins)} settings"
    if not file.exists():
        where = f"no file {file}; the defaults hold"
    variables = [origin for origin in origins if origin in VARIABLES.values()]
    set_there = f"; the environment sets {', '.join(variables)}" if variables else ""
    yield ok("Configuration", where + set_there)


def index_path(named: Path | None) -> Path:
    """Return the absolute path of the index that commands use by default."""
    return location(os.path.normpath(named or _configured_index_path() or DEFAULT_INDEX_PATH))


def _configured_index_path() -> Path | None:
    path: Path | None = valid(lambda: configured("index_path"), None)
    return path


def clients() -> Findings:
    found = [
        finding
        for client in CLIENTS.values()
        # In the home folder, both scopes may have the same file.
        for file, scope in {client.file(scope): scope for scope in client.scopes[::-1]}.items()
        for finding in _client(client, file, scope)
    ]
    yield from found
    if not found:
        yield warning(
            "Clients",
            "none of those known starts this server; choose one: idx mcp-config CLIENT --write",
        )


def _client(client: Client, file: Path, scope: Scope) -> Findings:
    try:
        entries = servers(client, file)
    except ClientConfigurationError as error:
        yield warning(client.title, f"{file} {error.reason}; {client.title} cannot use it either")
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
    path = _configured_index_path()
    return None if path is None else str(path)


def _entry(client: Client, where: str, launch: Launch, index: str | None, again: str) -> Finding:
    if shutil.which(launch.program) is None:
        return problem(
            client.title,
            f"{where} starts {launch.program}, which is not a program here; write the entry again: "
            f"{again}",
        )
    if index is not None and is_cluster(index):
        try:
            path = absolute_path(index)
        except IndexPathError as error:
            fault = f"{where}: {error}; write it again: {again} --index-path URL"
            return problem(client.title, fault)
        return ok(client.title, f"{where} starts {launch.program} on {path}")
    if index is None or not os.path.isabs(index):  # noqa: PTH117 - text of another program
        return warning(
            client.title,
            f"{where} names no absolute path of an index, so the server looks for one where the "
            f"client starts it; write it anew: {again}",
        )
    if not is_folder(index):
        return problem(
            client.title,
            f"{where} names the index {index}, which does not exist, or cannot be reached; create "
            f"it with idx init, or name another: {again} --index-path PATH",
        )
    return ok(client.title, f"{where} starts {launch.program} on {index}")
