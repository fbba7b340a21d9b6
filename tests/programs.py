"""Runs of the programs: within this process, whose Java is up, or as a process of their own."""

import gc
import io
import os
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, chdir, contextmanager
from functools import cache
from pathlib import Path
from typing import IO, Any, AnyStr, Final

from shared.settings import file

PROGRAMS: Final = Path(sysconfig.get_path("scripts"))
"""The folder of the installed programs."""

PROCESSES: Final = "MCP_LUCENE_PROCESSES"
"""Variable that, if set, has every run be a process, as `make soak` does."""

_READ_AT_START: Final = ("PYTHON", "LANG", "LC_", "COVERAGE", "IDX_JAVA_HEAP", "MCP_LUCENE_JAVA")
"""Beginnings of the names of variables that Python or Java reads when it starts."""

_WITHOUT_EFFECT: Final = frozenset({"PYTHONSAFEPATH"})
"""Variables among these that make no difference: a pool of workers sets this one for them."""


def run(*command: object, check: bool = True, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, without input unless there is some, and return what it printed."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    if "input" not in options:
        streams["stdin"] = subprocess.DEVNULL
    done = subprocess.run([*map(str, command)], text=True, check=False, **(streams | options))
    assert not check or done.returncode == 0, done
    return done


class Piped(subprocess.Popen[AnyStr]):
    """A process that has pipes as its standard streams, or those of them that are used."""

    stdin: IO[AnyStr]
    stdout: IO[AnyStr]
    stderr: IO[AnyStr]


class Started(Piped[str]):
    """A program that runs, with pipes for text unless the options say otherwise."""

    def __init__(self, *command: object, **options: Any) -> None:
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        super().__init__([*map(str, command)], text=True, **(streams | options))


def _read_at_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: text
        for name, text in environment.items()
        if name.startswith(_READ_AT_START) and name not in _WITHOUT_EFFECT
    }


@cache
def environment_at_start() -> dict[str, str]:
    """Return the variables that Python and Java have started with; call it before Java starts."""
    return _read_at_start(os.environ)


def can_run_here() -> bool:
    """Return whether a run in this process is like one of its own with the present environment."""
    return (
        PROCESSES not in os.environ
        and _read_at_start(os.environ) == environment_at_start()
        # The only one that signals and their handlers reach.
        and threading.current_thread() is threading.main_thread()
    )


def run_idx(
    arguments: Sequence[object],
    folder: Path,
    stdin: str | None = None,
    *,
    prefix: Sequence[str] = (),
    here: bool = True,
) -> subprocess.CompletedProcess[str]:
    """Run `idx` to its end, in this process unless a prefix or the environment says how."""
    command = [str(PROGRAMS / "idx"), *map(str, arguments)]
    if prefix or not (here and can_run_here()):
        options = {"cwd": folder, "encoding": "utf-8", "timeout": 120}
        return run(*prefix, *command, check=False, input=stdin or "", **options)
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as output,
        tempfile.TemporaryFile() as errors,
    ):
        given.write((stdin or "").encode())
        given.seek(0)
        code = run_idx_on([given, output, errors], arguments, folder)
        return subprocess.CompletedProcess(command, code, _text_of(output), _text_of(errors))


def run_idx_on(streams: Sequence[IO[bytes]], arguments: Sequence[object], folder: Path) -> int:
    """Run `idx` with standard streams, in this process if it can, and return its exit code."""
    command = [str(PROGRAMS / "idx"), *map(str, arguments)]
    if not can_run_here():
        stdin, stdout, stderr = streams
        return subprocess.run(
            command, cwd=folder, stdin=stdin, stdout=stdout, stderr=stderr, timeout=120, check=False
        ).returncode
    with _streams(streams), _process_state(), chdir(folder):
        return _exit_code(command)


def _exit_code(command: list[str]) -> int:
    from idx.__main__ import Terminated, main

    sys.argv = command
    Terminated.was_raised = False
    try:
        main()
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
            return 1
        return end.code or 0
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    return 0


@contextmanager
def _streams(files: Sequence[IO[bytes]]) -> Iterator[None]:
    """Make files the standard streams, for Python, Java and child processes."""
    before = sys.stdin, sys.stdout, sys.stderr
    sys.stdout.flush()
    sys.stderr.flush()
    with ExitStack() as ends:
        for number, opened in enumerate(files):
            kept = os.dup(number)
            ends.callback(os.close, kept)
            ends.callback(os.dup2, kept, number)
            os.dup2(opened.fileno(), number)
        sys.stdin, sys.stdout, sys.stderr = (
            io.TextIOWrapper(io.FileIO(number, mode, closefd=False), "utf-8")
            for number, mode in enumerate("rww")
        )
        try:
            yield
        finally:
            sys.stdin, sys.stdout, sys.stderr = before


@contextmanager
def _process_state() -> Iterator[None]:
    """Put back what a run changes for the whole process."""
    handlers = {number: signal.getsignal(number) for number in signal.valid_signals()}
    environment, arguments, threshold = dict(os.environ), sys.argv, gc.get_threshold()
    temporary = tempfile.tempdir
    # Read once by a process, and another one before.
    tempfile.tempdir = None
    if sys.platform != "win32":
        time.tzset()
    file.read.cache_clear()
    try:
        with warnings.catch_warnings():
            yield
    finally:
        for number, handler in handlers.items():
            if handler is not None and signal.getsignal(number) is not handler:
                signal.signal(number, handler)
        if dict(os.environ) != environment:
            os.environ.clear()
            os.environ.update(environment)
        sys.argv = arguments
        gc.set_threshold(*threshold)
        tempfile.tempdir = temporary


def _text_of(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode().replace("\r\n", "\n")
