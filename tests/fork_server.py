"""Runs of `idx`, each in a process forked from one that has imported the modules already.

Imports take up to half of the time of a short command, and the tests run more than a thousand. Each
run is a process of its own, with its own arguments, folder, environment and streams, and starts its
own Java. It begins in `idx.__main__.main`, as the installed program does, and ends like it.
"""

import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

PROGRAM: Final = Path(sysconfig.get_path("scripts")) / "idx"

_PACKAGES: Final = (
    "idx.commands",
    "idx.extraction",
    "idx.sync",
    "shared.maintenance",
    "shared.reading",
    "shared.writing",
)
"""Packages whose modules most commands need, with all that these import."""

_READ_AT_START: Final = ("PYTHON", "LANG", "LC_", "COVERAGE")
"""Beginnings of the names of variables that Python reads when it starts."""

_MAX_INPUT_CHARACTERS: Final = 10_000
"""Longest standard input, in characters: as UTF-8 it fits into a pipe that nobody reads yet."""


@dataclass(frozen=True)
class _Run:
    arguments: list[str]
    folder: str
    environment: dict[str, str]


class ForkServer:
    """The process from which runs of `idx` are forked."""

    def __init__(self) -> None:
        self._requests, requests = socket.socketpair()
        self._environment = _read_at_start(os.environ)
        with requests:
            self._process = subprocess.Popen(
                [sys.executable, "-c", f"from {__name__} import serve; serve({requests.fileno()})"],
                cwd=Path(__file__).parents[1],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[requests.fileno()],
            )

    def close(self) -> None:
        """End the process; its runs go on to their end."""
        self._requests.close()
        self._process.wait()

    def can_run(self, stdin: str | None) -> bool:
        """Return whether a run in today's environment would be the same as one from scratch."""
        is_short = len(stdin or "") <= _MAX_INPUT_CHARACTERS
        return is_short and _read_at_start(os.environ) == self._environment

    def run(
        self, arguments: list[str], folder: Path, stdin: str | None, seconds: float
    ) -> subprocess.CompletedProcess[str]:
        """Run `idx` to its end.

        Args:
            arguments: its arguments.
            folder: its current folder.
            stdin: its standard input; None for an empty one.
            seconds: the time after which it is killed.

        Raises:
            subprocess.TimeoutExpired: it took longer.
        """
        run = _Run(arguments, str(folder), dict(os.environ))
        with (
            tempfile.TemporaryFile() as request,
            os.fdopen(_standard_input(stdin)) as standard_input,
            tempfile.TemporaryFile() as output,
            tempfile.TemporaryFile() as errors,
        ):
            request.write(json.dumps(asdict(run)).encode())
            request.seek(0)
            replies, reply = socket.socketpair()
            with replies:
                files = [each.fileno() for each in (request, reply, standard_input, output, errors)]
                with reply:
                    socket.send_fds(self._requests, [b"+"], files)
                process, code = _outcome(replies, seconds)
            texts = []
            for file in (output, errors):
                file.seek(0)
                texts.append(file.read().decode().replace("\r\n", "\n"))
        if code is None:
            os.kill(process, signal.SIGKILL)
            raise subprocess.TimeoutExpired([PROGRAM, *arguments], seconds, *texts)
        return subprocess.CompletedProcess([PROGRAM, *arguments], code, *texts)


def _standard_input(text: str | None) -> int:
    """Return a descriptor to read a text from; without one, that of the null device."""
    if text is None:
        return os.open(os.devnull, os.O_RDONLY)
    inside, outside = os.pipe()
    with os.fdopen(outside, "wb") as writer:
        writer.write(text.encode())
    return inside


def _outcome(replies: socket.socket, seconds: float) -> tuple[int, int | None]:
    """Return the id of the process of a run, and its exit code; None if it runs for too long."""
    with replies.makefile() as lines:
        process = int(lines.readline())
        replies.settimeout(seconds)
        try:
            return process, int(lines.readline())
        except TimeoutError:
            return process, None


def _read_at_start(environment: "os._Environ[str]") -> dict[str, str]:
    return {name: environment[name] for name in environment if name.startswith(_READ_AT_START)}


def serve(descriptor: int) -> None:
    """Fork a process for each request, until nobody can make any.

    Args:
        descriptor: the socket of requests.
    """
    for name in _PACKAGES:
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            importlib.import_module(module.name)
    import lucene  # noqa: F401 - the classes, without the virtual machine

    # A collection in a run would otherwise copy the memory of all modules.
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=descriptor) as requests:
        # Processes that ended are not kept until somebody waits for them.
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while True:
            message, files, _, _ = socket.recv_fds(requests, 1, 5)
            if not message:
                return
            if os.fork() == 0:
                requests.detach()
                os.close(descriptor)
                _supervise(*files)
                return
            for file in files:
                os.close(file)


def _supervise(request: int, reply: int, *streams: int) -> None:
    """Fork the process of a run and report its end; in that process, return from the run."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    process = os.fork()
    if process == 0:
        os.close(reply)
        with os.fdopen(request, "rb") as file:
            run = _Run(**json.load(file))
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        _become(run)
        return
    os.write(reply, f"{process}\n".encode())
    for stream in streams:
        os.close(stream)
    _, status = os.waitpid(process, 0)
    os.write(reply, f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def _become(run: _Run) -> None:
    """Make this process what the installed program is when it starts, and run it."""
    os.chdir(run.folder)
    os.environ.clear()
    os.environ.update(run.environment)
    time.tzset()
    # Modules may have asked for it in the environment of the server.
    tempfile.tempdir = None
    sys.argv = [str(PROGRAM), *run.arguments]
    sys.path[0] = str(PROGRAM.parent)
    # Worker processes import it.
    sys.modules["__main__"].__file__ = str(PROGRAM)
    from idx.__main__ import main

    main()
