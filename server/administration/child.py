"""Runs of `idx` as a child process.

The process does not inherit the protocol's streams: its stdin is empty, and its stdout and stderr
are pipes. If the server is killed, the pipes break, and `idx` commits its work and ends at the next
file.
"""

import asyncio
import json
import os
import sys
from collections import deque
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

from server.answers.errors import ChildError
from shared.errors import FOR_CLIENT_VARIABLE
from shared.messages import reason_of
from shared.settings.defaults import (
    ANSWER_API_KEY_VARIABLE,
    NORMALIZER_API_KEY_VARIABLE,
    TOKENS_VARIABLE,
)
from shared.system import GROUP_OPTIONS, TERMINATED_EXIT_CODES, Group

_MAX_LINE_BYTES: Final = 1_000_000  # events, with their paths and reasons, are far shorter

_TOO_LONG: Final = b"(too long)"  # in place of a longer line

_MAX_OUTPUT_BYTES: Final = 10_000_000  # of the output of a command that prints no events

_END_CHECK_SECONDS: Final = 0.1

_MAX_STDERR_LINES: Final = 20
_MAX_STDERR_LINE_CHARACTERS: Final = 1_000  # of each of the last lines, which are kept

_WITHHELD_VARIABLES: Final = frozenset(
    {TOKENS_VARIABLE, NORMALIZER_API_KEY_VARIABLE, ANSWER_API_KEY_VARIABLE}
)
"""Environment variables of the server that are withheld from the child process, which embeds texts
but neither rewrites queries nor answers questions."""


class Child:
    """A process of `idx` with its own child processes; created by `start`."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._group = Group(process.pid)
        self._stderr_lines: deque[str] = deque(maxlen=_MAX_STDERR_LINES)
        self.was_terminated = False
        self.was_killed = False
        self._stderr_reader = asyncio.ensure_future(self._read_stderr())
        self._process_end = asyncio.ensure_future(self._end())

    @classmethod
    async def start(cls, arguments: Sequence[str]) -> "Child":
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                # ``-P`` omits the server's working directory, which may be anyone's, from the
                # module path.
                *("-P", "-m", "idx", *arguments),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=_environment(),
                limit=_MAX_LINE_BYTES,
                # Ctrl-C then reaches only the server, which ends the child process in order.
                **GROUP_OPTIONS,
            )
        except OSError as error:
            raise ChildError(f"idx could not be started: {reason_of(error)}") from error
        return cls(process)

    @property
    def last_error_line(self) -> str:
        """The last line of stderr without its prefix ``Error:``, or an empty string."""
        return self._stderr_lines[-1].removeprefix("Error: ") if self._stderr_lines else ""

    @property
    def ended_on_request(self) -> bool:
        """True if the process ended because of `terminate` or `kill`."""
        code = self._process.returncode
        return self.was_killed or (self.was_terminated and code in TERMINATED_EXIT_CODES)

    async def lines(self) -> AsyncIterator[bytes]:
        async for line in _lines(self._process.stdout):
            yield line

    async def end(self) -> int:
        await asyncio.wait({self._process_end, self._stderr_reader})
        return await self._process.wait()

    def terminate(self) -> None:
        """Have the process commit its work and end; repeated calls have no effect."""
        if not self.was_terminated and self._process.returncode is None:
            self.was_terminated = True
            self._group.terminate()

    def kill(self) -> None:
        """Kill the process and its child processes; the index stays at its last commit."""
        if self._process.returncode is None:
            self.was_killed = True
            self._group.kill()

    async def _end(self) -> None:
        """Wait for the process alone, then kill the child processes that it left behind.

        They hold the pipes open, which would delay the end of the output until they finish.
        """
        while self._process.returncode is None:
            await asyncio.sleep(_END_CHECK_SECONDS)
        self._group.kill()

    async def _read_stderr(self) -> None:
        async for line in _lines(self._process.stderr):
            text = line.decode(errors="replace").strip()
            if text and line != _TOO_LONG:
                self._stderr_lines.append(text[:_MAX_STDERR_LINE_CHARACTERS])


async def _lines(pipe: asyncio.StreamReader | None) -> AsyncIterator[bytes]:
    assert pipe is not None  # noqa: S101 - it is a pipe, see `Child.start`
    while True:
        try:
            line = await pipe.readline()
        except ValueError:
            line = _TOO_LONG
        if not line:
            return
        yield line


def _environment() -> dict[str, str]:
    passed_on = {
        name: value for name, value in os.environ.items() if name not in _WITHHELD_VARIABLES
    }
    return passed_on | {FOR_CLIENT_VARIABLE: "1"}


async def run_for_json(arguments: Sequence[str], seconds: float) -> Any:
    """Run a short command of `idx`, and return its JSON output."""
    child = await Child.start(arguments)
    printed = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for line in child.lines():
                printed += line[: _MAX_OUTPUT_BYTES - len(printed)]
            code = await child.end()
    except TimeoutError as error:
        raise ChildError(
            f"idx {' '.join(arguments[:2])} took longer than {seconds:g} seconds and was ended; "
            "try again"
        ) from error
    finally:
        child.kill()
    try:
        return json.loads(printed)
    except ValueError as error:
        message = child.last_error_line or f"idx ended with the exit code {code}"
        raise ChildError(message) from error
