"""Fixtures that run the real programs on a real index in a temporary folder."""

import gc
import json
import multiprocessing
import os
import shlex
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache, partial
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import lucene
import pytest
import typer
from mcp import Client
from mcp.client.session import ElicitationFnT, MessageHandlerFnT
from mcp.client.stdio import StdioServerParameters, stdio_client

from server.app import app
from server.search_server import SearchServer
from shared import Document, Index, create
from shared.java import vm
from shared.java.vm import OPTIONS_VARIABLE, QUICK
from shared.semantic import keep_to_one_thread, models
from shared.settings.defaults import SHARE_VARIABLE
from tests.forked_workers import GET_CONTEXT, fork_workers
from tests.programs import PROCESSES, PROGRAMS, environment_at_start, run_idx
from tests.systems import SLOW, without_wine

if TYPE_CHECKING:
    from shared.semantic.encoder import Encoder

# A shell without job control starts what runs in the background with Ctrl-C ignored, and every
# program inherits it. Those that have a handler start their children with the default.
signal.signal(signal.SIGINT, signal.default_int_handler)
# As in the programs: this process runs them, and starts others while NumPy would have threads.
keep_to_one_thread()

USER_FOLDERS = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "WIN_PD_OVERRIDE_LOCAL_APPDATA")
"""Variables for the folders of a user's settings and data; the last one is for Windows."""


Connect = Callable[..., AbstractAsyncContextManager[Client]]
NewIndex = Callable[..., Path]


def pytest_xdist_auto_num_workers() -> int:
    """Return one worker more than there are cores, since a test often waits for a program."""
    return (os.cpu_count() or 1) + 1


def pytest_configure(config: pytest.Config) -> None:
    """Keep the folders of tests where their names need no quotes in a command line.

    Messages quote such names, and the sockets of some programs may lie no deeper.
    """
    temporary, usual = tempfile.gettempdir(), Path("/tmp")  # noqa: S108 - mkdtemp is safe there
    if shlex.quote(temporary) != temporary and not config.option.basetemp and usual.is_dir():
        config.option.basetemp = mkdtemp(dir=usual, prefix="pytest-")


def pytest_collection_finish() -> None:
    """Leave what was imported and collected out of the garbage collections to come."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    gc.unfreeze()


def pytest_report_header() -> str:
    return f"Lucene {lucene.VERSION}"


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def _no_settings_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as environment:
        for variable in USER_FOLDERS:
            environment.setenv(variable, str(tmp_path_factory.mktemp(variable)))
        # All runs of tests are short, those of the server, too, and share the processor. This
        # process lives longer than what it starts, for which Java compiles less.
        environment.setenv(OPTIONS_VARIABLE, " ".join(QUICK))
        vm.start()
        environment.setenv(OPTIONS_VARIABLE, " ".join((*QUICK, "-XX:CompileThresholdScaling=30")))
        for name in list(os.environ):
            # Requests to servers of the tests must not go through a proxy of this machine.
            if name.startswith("IDX_") or name.lower().endswith("_proxy"):
                environment.delenv(name)
        # Each program that embeds takes a second; those that are asked to are tested by themselves.
        environment.setenv("IDX_SEMANTIC", "off")
        # A process that answers for all would outlive the test.
        environment.setenv(SHARE_VARIABLE, "off")
        for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"):
            # readline, which pytest imports, sets some of them without os.environ knowing.
            environment.setenv(name, "")
            environment.delenv(name)
        environment_at_start()
        if PROCESSES not in os.environ:
            fork_workers(environment)
        yield


@pytest.fixture(autouse=True)
def _configuration_and_data_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    # Unlike mktemp, which lists all folders of earlier tests for the next number.
    for variable in USER_FOLDERS:
        monkeypatch.setenv(variable, mkdtemp(dir=tmp_path_factory.getbasetemp()))


@pytest.fixture
def spawned_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have worker processes start as in the programs, with nothing loaded."""
    monkeypatch.setattr(multiprocessing, "get_context", GET_CONTEXT)


@pytest.fixture(scope="module")
def semantic() -> Iterator[None]:
    """Leave search by meaning to the defaults, as it is for a user without settings."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("IDX_SEMANTIC")
        # A process loads its model once, which takes half a second; this one is many in turn.
        load = models._encoder  # noqa: SLF001 - there is no other way to keep one
        patch.setattr(
            models, "_encoder", lambda name: _default(load) if name == "e5" else load(name)
        )
        yield


@cache
def _default(load: Callable[[str], "Encoder"]) -> "Encoder":
    return load("e5")


@pytest.fixture
def index_path(tmp_path: Path) -> Path:
    """The folder of an index that does not exist yet."""
    return tmp_path / "lucene-index"


@pytest.fixture
def empty_index(index_path: Path) -> Path:
    create(index_path)
    return index_path


def add_documents(index: Path, *documents: Document) -> None:
    """Add documents to an index, which is created if it does not exist, in one commit."""
    with Index(index, create=True) as writer:
        for document in documents:
            writer.add(document)


@pytest.fixture(scope="session")
def new_index(tmp_path_factory: pytest.TempPathFactory) -> NewIndex:
    """Create the index of a module: ``new_index(Document(...), ...)`` returns its folder."""

    def new_index(*documents: Document) -> Path:
        path = tmp_path_factory.mktemp("index") / "lucene-index"
        add_documents(path, *documents)
        return path

    return new_index


class Idx:
    """`idx`, run in a folder of the test, where its default index is `index`.

    It runs in this process, unless a prefix or the environment decides how it starts.
    """

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, *, here: bool = True) -> None:
        self.folder = folder
        self.index = folder / "lucene-index"
        self.setenv = monkeypatch.setenv
        self.delenv = monkeypatch.delenv
        self._here = here

    def __call__(
        self,
        *arguments: object,
        code: int = 0,
        stdin: str | None = None,
        folder: Path | None = None,
        prefix: Sequence[str] = (),
    ) -> subprocess.CompletedProcess[str]:
        done = run_idx(arguments, folder or self.folder, stdin, prefix=prefix, here=self._here)
        done.stderr = without_wine(done.stderr)
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done

    def json(self, *arguments: object, **options: Any) -> Any:
        """Return the answer for programs."""
        return json.loads(self(*arguments, "--json", **options).stdout)

    def without(self, *libraries: str) -> None:
        """Have libraries be missing, as without the extra that installs them."""
        modules = self.folder / "without"
        modules.mkdir()
        hidden = f"import sys; sys.modules.update(dict.fromkeys({libraries}))\n"
        (modules / "sitecustomize.py").write_text(hidden)
        self.setenv("PYTHONPATH", str(modules), prepend=os.pathsep)


@pytest.fixture
def idx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Idx:
    """Run `idx` in the temporary folder, where its default index is `index_path`."""
    return Idx(tmp_path, monkeypatch)


@pytest.fixture
def idx_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Idx:
    """Run `idx` like the fixture `idx`, but always as a process."""
    return Idx(tmp_path, monkeypatch, here=False)


@asynccontextmanager
async def connected(
    index_path: Path,
    *options: str,
    mode: str = "auto",
    handler: MessageHandlerFnT | None = None,
    asked: ElicitationFnT | None = None,
    transport: str = "stdio" if PROCESSES in os.environ else "memory",
    **variables: str,
) -> AsyncIterator[Client]:
    """Connect the SDK's client to a server in this process, or by stdio to a process of its own."""
    arguments = (str(index_path), *_patience(), *options)
    with pytest.MonkeyPatch.context() as environment:
        if transport == "stdio":
            server: Any = stdio_client(_program(arguments, variables))
        else:
            for name, value in variables.items():
                environment.setenv(name, value)
            server = server_with(*arguments)
        async with Client(
            server, mode=mode, message_handler=handler, elicitation_callback=asked
        ) as client:
            yield client


connected_by_stdio = partial(connected, transport="stdio")


def _patience() -> tuple[str, ...]:
    """Return the options of a server whose Java takes longer to start than a call may wait."""
    return ("--time-budget", "300") if SLOW in os.environ else ()


def server_with(*arguments: str) -> SearchServer:
    """Return the server that `mcp-lucene` makes of its arguments, instead of serving stdio."""
    made: list[SearchServer] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("server.app.serve_stdio", made.append)
        typer.main.get_command(app)([*arguments], standalone_mode=False)
    return made[0]


def _program(arguments: Sequence[str], variables: dict[str, str]) -> StdioServerParameters:
    # The SDK starts servers with an environment of its own.
    passed_on = {
        name: value
        for name, value in os.environ.items()
        if "COVERAGE" in name
        or name in {*USER_FOLDERS, OPTIONS_VARIABLE, SHARE_VARIABLE, "PYTHONPATH"}
    }
    return StdioServerParameters(
        command=str(PROGRAMS / "mcp-lucene"), args=[*arguments], env=passed_on | variables
    )


@pytest.fixture
def connect_by_stdio(index_path: Path) -> Connect:
    """Connect like `connect`, but always to a process."""
    return partial(connected_by_stdio, index_path)


@pytest.fixture
def connect(index_path: Path) -> Connect:
    """Connect to a server on the index of the test: ``async with connect() as client``."""
    return partial(connected, index_path)
