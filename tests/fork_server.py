"""Runs of the programs, each in a process forked from one that has imported the modules already.

Imports take up to half of the time of a short run, and the tests start both programs more than a
thousand times. Each run is a process of its own, with its own arguments, folder, environment and
streams, and starts its own Java. It begins in the `main` that the installed program calls, and ends
like it. `tests/forked_program.py` stands for such a run where a program is started by its path.
"""

import atexit
import functools
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from tests.systems import SLOW

PROGRAMS: Final = Path(sysconfig.get_path("scripts"))

STAND_IN: Final = (sys.executable, "-I", "-S", str(Path(__file__).with_name("forked_program.py")))
"""Beginning of a command; a server's `address`, then a program's arguments follow."""

Program = Literal["idx", "mcp-lucene"]

_PRELOADED: Final[dict[Program, tuple[str, ...]]] = {
    "idx": (
        *("idx.cli", "idx.commands", "idx.configuration", "idx.extraction", "idx.output"),
        *("idx.sync", "shared.answers", "shared.language_models", "shared.maintenance"),
        *("shared.reading", "shared.rewriting", "shared.search", "shared.writing"),
        *("idx.__main__", "idx.app", "csv", "platformdirs", "pycld2", "pydantic"),
        *("importlib.metadata", "importlib.resources", "rich.console"),
    ),
    "mcp-lucene": (
        *("server", "shared.answers", "shared.language_models", "shared.reading"),
        *("shared.rewriting", "shared.search", "pycld2"),
    ),
}
"""What most runs of a program import: modules, and packages with all that is in them."""

_READ_AT_START: Final = ("PYTHON", "LANG", "LC_", "COVERAGE")
"""Beginnings of the names of variables that Python reads when it starts."""

_WITHOUT_EFFECT: Final = frozenset({"PYTHONSAFEPATH"})
"""Variables among these that make no difference: the programs have no modules beside them. A pool
of workers sets this one in the process of its test, after which nothing would be forked."""

_MAX_INPUT_CHARACTERS: Final = 10_000
"""Longest standard input, in characters: as UTF-8 it fits into a pipe that nobody reads yet."""


@dataclass(frozen=True)
class _Run:
    arguments: list[str]
    folder: str
    environment: dict[str, str]


class ForkServer:
    """The process from which runs of a program are forked.

    Attributes:
        address: the path of the socket that takes runs.
    """

    def __init__(self, program: Program, variables: Mapping[str, str]) -> None:
        """Start the process.

        Args:
            program: what it runs.
            variables: those of the environment that Python reads when it starts.
        """
        self._program = PROGRAMS / program
        # The path of a socket may not be longer than about a hundred bytes.
        self._folder = tempfile.TemporaryDirectory(dir="/tmp", prefix="fork-")
        self.address = f"{self._folder.name}/socket"
        self._lifeline, lifeline = socket.socketpair()
        with socket.socket(socket.AF_UNIX) as listener, lifeline:
            listener.bind(self.address)
            listener.listen(64)
            numbers = f"{listener.fileno()}, {lifeline.fileno()}"
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-c",
                    f"from {__name__} import serve; serve({program!r}, {numbers})",
                ],
                cwd=Path(__file__).parents[1],
                env={**_without_read_at_start(os.environ), **variables},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[listener.fileno(), lifeline.fileno()],
            )

    def close(self) -> None:
        """End the process; its runs go on to their end."""
        self._lifeline.close()
        self._process.wait()
        self._folder.cleanup()

    def run(
        self, arguments: list[str], folder: Path, stdin: str | None, seconds: float
    ) -> subprocess.CompletedProcess[str]:
        """Run the program to its end.

        Args:
            arguments: its arguments.
            folder: its current folder.
            stdin: its standard input, which `can_read` allows; None for an empty one.
            seconds: the time after which it is killed.

        Raises:
            subprocess.TimeoutExpired: it took longer.
        """
        with (
            socket.socket(socket.AF_UNIX) as connection,
            os.fdopen(_standard_input(stdin)) as standard_input,
            tempfile.TemporaryFile() as output,
            tempfile.TemporaryFile() as errors,
        ):
            connection.connect(self.address)
            streams = [each.fileno() for each in (standard_input, output, errors)]
            socket.send_fds(connection, [b"+"], streams)
            run = [arguments, str(folder), dict(os.environ)]
            connection.sendall(json.dumps(run).encode() + b"\n")
            code = _exit_code(connection, seconds)
            texts = []
            for file in (output, errors):
                file.seek(0)
                texts.append(file.read().decode().replace("\r\n", "\n"))
        command = [str(self._program), *arguments]
        if code is None:
            raise subprocess.TimeoutExpired(command, seconds, *texts)
        return subprocess.CompletedProcess(command, code, *texts)


def can_read(stdin: str | None) -> bool:
    """Return whether a run can be given a standard input."""
    return len(stdin or "") <= _MAX_INPUT_CHARACTERS


def fork_server(program: Program, environment: Mapping[str, str]) -> ForkServer | None:
    """Return the server whose runs are the same in an environment as from scratch.

    There is none where a process cannot be forked, where Python lacks what not every run imports,
    or for variables that only one test sets.
    """
    variables = _read_at_start(environment)
    if not hasattr(os, "fork") or SLOW in os.environ or variables not in ({}, _AT_FIRST):
        return None
    return _started(program, tuple(variables.items()))


@functools.cache
def _started(program: Program, variables: tuple[tuple[str, str], ...]) -> ForkServer:
    server = ForkServer(program, dict(variables))
    atexit.register(server.close)
    return server


def _standard_input(text: str | None) -> int:
    """Return a descriptor to read a text from; without one, that of the null device."""
    if text is None:
        return os.open(os.devnull, os.O_RDONLY)
    inside, outside = os.pipe()
    with os.fdopen(outside, "wb") as writer:
        writer.write(text.encode())
    return inside


def _exit_code(connection: socket.socket, seconds: float) -> int | None:
    """Return the exit code of a run; None if it runs for too long."""
    with connection.makefile() as lines:
        lines.readline()
        connection.settimeout(seconds)
        try:
            return int(lines.readline())
        except TimeoutError:
            return None


def _read_at_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: text
        for name, text in environment.items()
        if name.startswith(_READ_AT_START) and name not in _WITHOUT_EFFECT
    }


def _without_read_at_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: environment[name] for name in environment.keys() - _read_at_start(environment)}


_AT_FIRST: Final = _read_at_start(os.environ)


def serve(program: Program, listening: int, living: int) -> None:
    """Fork a process for each connection, until the other end of the lifeline is closed.

    The other end of a connection gets the id of the process, then its exit code, a line each. The
    process is killed when that end is closed.

    Args:
        program: what the processes run.
        listening: the descriptor of a listening socket.
        living: that of the lifeline.
    """
    # What measures the coverage of tests has registered its end already.
    if not any("COVERAGE" in name for name in os.environ):
        # Registered before all that modules register, it is called after it.
        atexit.register(_leave)
    for name in _PRELOADED[program]:
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(getattr(package, "__path__", ()), f"{name}."):
            if name.startswith(("idx", "server", "shared")):
                importlib.import_module(module.name)
    import lucene  # noqa: F401 - the classes, without the virtual machine

    # A collection in a run would otherwise copy the memory of all modules.
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, lambda *_: None)
    ended, waker = socket.socketpair()
    waker.setblocking(False)
    signal.set_wakeup_fd(waker.fileno())
    listener, lifeline = socket.socket(fileno=listening), socket.socket(fileno=living)
    runs: dict[int, socket.socket] = {}
    while True:
        ready = select.select([listener, lifeline, ended, *runs.values()], [], [])[0]
        if lifeline in ready:
            return
        if ended in ready:
            ended.recv(1_000)
            _report_ends(runs)
        _kill_abandoned(runs, ready)
        if listener in ready and (run := _forked(listener, runs)):
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for inherited in (listener, lifeline, ended, waker):
                inherited.close()
            _become(program, run)
            return


def _forked(listener: socket.socket, runs: dict[int, socket.socket]) -> _Run | None:
    """Fork a process for a connection, and add it to those that run; in it, return what to run."""
    connection, _ = listener.accept()
    try:
        _, streams, _, _ = socket.recv_fds(connection, 1, 3)
        with connection.makefile() as lines:
            run = _Run(*json.loads(lines.readline()))
    except (OSError, ValueError):
        # The other side ended before it had asked for anything.
        connection.close()
        return None
    process = os.fork()
    if process == 0:
        for inherited in (connection, *runs.values()):
            inherited.close()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        return run
    for stream in streams:
        os.close(stream)
    runs[process] = connection
    with suppress(ConnectionError):
        connection.sendall(f"{process}\n".encode())
    return None


def _kill_abandoned(runs: dict[int, socket.socket], ready: list[socket.socket]) -> None:
    """Kill processes whose end nobody waits for any more."""
    for process, connection in runs.items():
        if connection in ready:
            with suppress(ConnectionError):
                # Nothing is ever sent there.
                connection.recv(1)
            os.kill(process, signal.SIGKILL)


def _report_ends(runs: dict[int, socket.socket]) -> None:
    """Send the exit codes of processes that have ended, and forget them."""
    while runs:
        process, status = os.waitpid(-1, os.WNOHANG)
        if not process:
            return
        with runs.pop(process) as connection, suppress(ConnectionError):
            connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _become(program: Program, run: _Run) -> None:
    """Make this process what the installed program is when it starts, and run it."""
    os.chdir(run.folder)
    os.environ.clear()
    os.environ.update(run.environment)
    time.tzset()
    # Modules may have asked for it in the environment of the server.
    tempfile.tempdir = None
    sys.argv = [str(PROGRAMS / program), *run.arguments]
    sys.path[0] = str(PROGRAMS)
    # Worker processes import it.
    sys.modules["__main__"].__file__ = sys.argv[0]
    if program == "idx":
        from idx.__main__ import main
    else:
        from server.__main__ import main
    try:
        main()
    except SystemExit as end:
        if isinstance(end.code, int | None):
            _exit_codes.append(end.code or 0)
        raise
    _exit_codes.append(0)


_exit_codes: Final[list[int]] = []
"""The exit code of a run that has come to its end."""


def _leave() -> None:
    """End the process of a run after its threads and all that it has registered for its end.

    Python would take apart the modules of the server one by one, and thereby copy their memory.
    """
    if _exit_codes:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(_exit_codes[0])
