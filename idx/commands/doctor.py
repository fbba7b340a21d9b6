"""Command `idx doctor`: the order of all checks, and those of the index and the MCP server."""

import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TextIO, cast

import typer

from idx import doctor as machine
from idx.cli.options import PATH, Json
from idx.clients.catalogue import ProgramMissingError, installed_program
from idx.doctor import Finding, Findings, ok, problem, warning
from idx.errors import message
from idx.output.printing import print_json, tell
from shared import daemons
from shared.backends import chosen
from shared.errors import ExtraMissingError, FilterError, McpLuceneError
from shared.files.access import is_folder
from shared.installation import is_newer, software_version, upgrade_command
from shared.messages import decodable, quantity
from shared.model.failures import ERRORS
from shared.model.filters import configured_collections
from shared.model.index_results import FailureList, IndexStatistics
from shared.settings.current import remembered_folders
from shared.settings.defaults import VARIABLES
from shared.system.shell import quoted

if TYPE_CHECKING:
    from shared.reading.searcher import Searcher


def index(path: Path) -> Findings:
    from shared.reading.searcher import Searcher

    try:
        with Searcher(path, collections=machine.valid(configured_collections, ())) as searcher:
            figures, failures = searcher.statistics(), searcher.failures()
            folders = [folder.path for folder in searcher.folders()]
            collections = [_collection(searcher, name) for name in searcher.collections]
    except McpLuceneError as error:
        yield problem("Index", message(error))
        folders = []
    else:
        yield _size(figures)
        yield from _version(figures)
        yield _failures(failures)
        yield from collections
    yield from _writing(path)
    yield from _folders(folders)


def _size(figures: IndexStatistics) -> Finding:
    if not figures.documents:
        return warning("Index", f"{figures.path} holds no documents; add some: idx sync FOLDER")
    return ok(
        "Index",
        f"{figures.path}: {quantity(figures.documents, 'document')}, "
        f"{quantity(figures.chunks, 'chunk')}, "
        f"{figures.size_bytes / 1e6:,.1f} MB, schema version {figures.schema_version}",
    )


def _version(figures: IndexStatistics) -> Findings:
    if is_newer(figures.software_version, software_version()):
        yield warning(
            "Version",
            f"mcp-lucene {figures.software_version} has written the index, which is newer than "
            f"this one ({software_version()}); upgrade: {upgrade_command()}",
        )


def _failures(failures: FailureList) -> Finding:
    kinds = Counter(failure.kind for failure in failures.failures)
    unsupported = quantity(kinds["unsupported"], "unsupported file")
    others = f"{unsupported}, {quantity(kinds['empty'], 'empty file')}"
    failed = sum(kinds[kind] for kind in ERRORS)
    if not failed:
        return ok("Files", f"none that should have been read is missing; {others}")
    return warning(
        "Files", f"{failed:,} could not be read; see why: idx failures; then: idx sync --retry"
    )


def _collection(searcher: "Searcher", name: str) -> Finding:
    try:
        documents = searcher.documents(collection=name, limit=1).total_documents
    except FilterError as error:
        return problem("Collection", f"{name}: {error}; see idx collections list")
    if not documents:
        return warning(
            "Collection",
            f"{name} has no documents; look at its folder and filters: idx collections list",
        )
    return ok("Collection", f"{name} has {quantity(documents, 'document')}")


def _writing(path: Path) -> Findings:
    if is_folder(path) and not os.access(path, os.W_OK):
        yield warning(
            "Writer",
            f"{path} cannot be written by this user; idx can search it, but not change it: fix "
            "its permissions if it should",
        )
        return
    # Only where Lucene can be loaded.
    from shared.storage.lock import writer

    try:
        process = writer(path)
    except OSError:
        process = None
    if process:
        yield warning("Writer", f"the index is locked by {process}; others wait until it has ended")
    elif is_folder(path):
        yield ok("Writer", "no process that can be seen from here is writing the index")


def _folders(indexed: Iterable[Path]) -> Findings:
    known = dict.fromkeys(indexed, "in the index")
    remembered: list[Path] = machine.valid(
        lambda: [folder.path for folder in remembered_folders()], []
    )
    new = [path for path in dict.fromkeys(remembered) if path not in known]
    for path, origin in (known | dict.fromkeys(new, "remembered, not in the index yet")).items():
        shown = decodable(str(path))
        ways = {"idx sync --prune-missing": path in known, "idx folders remove": path in remembered}
        if not is_folder(path):
            what = "is missing, or cannot be reached"
        elif not os.access(path, os.R_OK | os.X_OK):
            what = "cannot be read by this user"
        else:
            yield ok("Folder", f"{shown} ({origin})")
            continue
        yield problem(
            "Folder",
            f"{shown} {what}; its documents stay as they are: mount it or fix its permissions, or "
            "give it up: "
            + "; ".join(f"{way} {quoted(shown)}" for way, helps in ways.items() if helps),
        )


SERVER_TIMEOUT_SECONDS: Final = 60  # from the start of the server to its last answer

_TOOL_CALLS: Final[dict[str, dict[str, Any]]] = {
    "index_stats": {},
    "Search": {"query": "", "limit": 1},
}
"""Tools to call, with their arguments."""


def watching(index_path: Path) -> Findings:
    """Say whether the installed watch of the index runs, and when its last sync was."""
    from idx.service import Service

    service = Service(index_path)
    if not service.file.exists():
        return
    since = service.seconds_since_sync()
    last = "none yet" if since is None else f"{_rounded(since)} ago"
    told = f"{service.file}; last sync: {last}"
    if service.runs():
        yield ok("Watch", f"runs by {told}")
    else:
        yield problem("Watch", f"does not run by {told}; start it again: idx watch --install")


def _rounded(seconds: float) -> str:
    for unit, length in (("day", 86_400), ("hour", 3_600)):
        if seconds >= 2 * length:
            return quantity(round(seconds / length), unit)
    return quantity(round(seconds / 60), "minute")


def shared_processes() -> Findings:
    """Show the processes that answer for several assistants."""
    import psutil

    for daemon in daemons.running():
        since = datetime.fromtimestamp(daemon["started"]).astimezone().strftime("%H:%M")
        assistants = quantity(daemon["clients"], "assistant")
        told = f"{daemon['pid']} works for {assistants}, since {since}"
        with suppress(psutil.Error):
            megabytes = psutil.Process(daemon["pid"]).memory_info().rss / 1e6
            told += f", with {megabytes:,.0f} MB"
        yield ok("Shared process", f"{told}: {daemon['index']}")


def server(index_path: Path) -> Findings:
    import anyio
    from mcp import MCPError

    try:
        program = installed_program()
    except ProgramMissingError:
        # Reported by the check of the programs.
        return
    started = time.perf_counter()
    with tempfile.TemporaryFile("w+", errors="replace") as log:
        try:
            tools, errors = anyio.run(_ask, program, index_path, cast("TextIO", log))
        except (MCPError, OSError, ExceptionGroup) as error:
            log.seek(0)
            lines = [line.strip() for line in log if line.strip()]
            yield problem(
                "Server",
                f"{program} {index_path} cannot be asked: {_reason(error, lines)}; start it in a "
                "terminal to see more",
            )
            return
    seconds = time.perf_counter() - started
    told = f"started, asked for its {tools} tools and called {len(_TOOL_CALLS)} in {seconds:.1f} s"
    if errors:
        yield problem("Server", f"{told}; it answered: {errors[0]}")
    else:
        yield ok("Server", told)


async def _ask(program: Path, index_path: Path, log: TextIO) -> tuple[int, list[str]]:
    """Start the server as clients of the SDK do, and return its number of tools and the errors of
    calls.
    """
    import anyio
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client
    from mcp.types import TextContent

    # Otherwise a process that runs already would be asked.
    options = [str(index_path), "--no-share"]
    parameters = StdioServerParameters(command=str(program), args=options)
    with anyio.fail_after(SERVER_TIMEOUT_SECONDS):
        async with Client(stdio_client(parameters, log)) as client:
            tools = (await client.list_tools()).tools
            answers = [await client.call_tool(name, given) for name, given in _TOOL_CALLS.items()]
    texts = [
        content.text
        for answer in answers
        if answer.is_error
        for content in answer.content
        if isinstance(content, TextContent)
    ]
    return len(tools), texts


def _reason(error: BaseException, lines: list[str]) -> str:
    """Return the last message of the server, or else the error of the client."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, TimeoutError):
        return f"it took more than {SERVER_TIMEOUT_SECONDS} s"
    return lines[-1] if lines else str(error)


def examine(named: Path | None) -> Findings:
    path = machine.index_path(named)
    yield from machine.python()
    yield from machine.extras()
    yield from machine.ocr()
    yield from machine.libreoffice()
    yield from machine.settings()
    runs = True
    for check in (machine.lucene, machine.java):
        # Without Lucene, there is no Java to look at.
        for finding in check() if runs else ():
            runs &= finding.status != "problem"
            yield finding
    yield from _place(path)
    if runs:
        yield from index(path)
    yield from machine.clients()
    yield from watching(path)
    yield from shared_processes()
    if runs:
        yield from server(path)


def _place(path: Path) -> Findings:
    try:
        of_cluster = chosen(path, "findings")
    except ExtraMissingError:
        # The check of the index reports it.
        return
    if of_cluster:
        for name, status, text in of_cluster(path):
            yield Finding(name, text, status)
    else:
        yield from machine.disk(path)


def doctor(
    index_path: Annotated[
        # The command looks up the default itself, because it must continue if that fails.
        Path | None,
        typer.Option(
            "--index-path",
            "-i",
            envvar=VARIABLES["index_path"],
            metavar="PATH",
            click_type=PATH,
            help="Index folder; the configured one by default.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check the installation, the settings and the index, and say how to fix problems.

    Checked are Python, memory, disk, Lucene, Java, the settings, the index with its folders, and
    the MCP clients that know the server; the server is started once and called. Nothing is changed.
    The exit code is 1 if there is a problem.

    Example: idx doctor --index-path ~/index
    """
    findings = []
    for finding in examine(index_path):
        findings.append(finding)
        if not as_json:
            tell(f"{finding.status:<8} {finding.check:<15} {finding.message}")
    problems, warnings = (
        sum(finding.status == status for finding in findings) for status in ("problem", "warning")
    )
    if as_json:
        print_json(
            {
                "findings": [asdict(finding) for finding in findings],
                "problems": problems,
                "warnings": warnings,
            }
        )
    else:
        tell(f"{quantity(problems, 'problem')}, {quantity(warnings, 'warning')}")
    if problems:
        raise typer.Exit(1)
