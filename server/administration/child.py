"""A run of `idx` as a child process.

It inherits nothing of the protocol: its stdin is empty, and its stdout and stderr are pipes. If the
server is killed, the pipes break, and `idx` commits what it did and ends at the next file.
"""

import asyncio
import json
import os
import signal
import sys
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Any, Final

from server.administration.errors import ChildError
from shared.errors import FOR_CLIENT_VARIABLE
from shared.messages import reason_of
from shared.settings.defaults import NORMALIZER_API_KEY_VARIABLE, TOKENS_VARIABLE

_LONGEST_LINE: Final = 1_000_000
"""Bytes; an event has paths and reasons, and is far shorter."""

_LONGEST_ANSWER: Final = 10_000_000
"""Bytes of an answer of a command that does not print events."""

_LAST_LINES: Final = 20
_LINE_CHARACTERS: Final = 1_000
"""What is kept of stderr."""

_SECRETS: Final = frozenset({TOKENS_VARIABLE, NORMALIZER_API_KEY_VARIABLE})
"""Variables of the server that are none of the child's business."""

_TERMINATED: Final = frozenset({143, -signal.SIGTERM})
"""How idx ends after SIGTERM; the signal itself ends a Python that has hardly started."""


class Child:
    """A process of `idx` and those that it starts; made by `start`.

    Attributes:
        was_terminated: whether it was asked to end.
        was_killed: whether it was made to.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._said: deque[str] = deque(maxlen=_LAST_LINES)
        self.was_terminated = False
        self.was_killed = False
        self._listening = asyncio.ensure_future(self._listen())
        self._ended = asyncio.ensure_future(self._end())

    @classmethod
    async def start(cls, arguments: Sequence[str]) -> "Child":
        """Run `idx` with arguments.

        Raises:
            ChildError: the system starts no process.
        """
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                # Without the folder that the server was started in, which may be anyone's.
                *("-P", "-m", "idx", *arguments),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=_environment(),
                # Ctrl-C reaches the server alone, which ends the child in order.
                start_new_session=True,
                limit=_LONGEST_LINE,
            )
        except OSError as error:
            raise ChildError(f"idx could not be started: {reason_of(error)}") from error
        return cls(process)

    @property
    def last_words(self) -> str:
        """The last line on stderr, without the ``Error:`` before it; empty if there is none."""
        return self._said[-1].removeprefix("Error: ") if self._said else ""

    @property
    def ended_as_asked(self) -> bool:
        """Whether the process has ended because it was asked to, or made to."""
        code = self._process.returncode
        return self.was_killed or (self.was_terminated and code in _TERMINATED)

    async def lines(self) -> AsyncIterator[bytes]:
        """What it prints on stdout, to the end."""
        stdout = self._process.stdout
        assert stdout is not None  # noqa: S101 - it is a pipe
        while True:
            try:
                line = await stdout.readline()
            except ValueError:
                line = b"(too long)"
            if not line:
                return
            yield line

    async def end(self) -> int:
        """Wait for the end.

        Returns:
            The exit code, negative if a signal ended it.
        """
        await asyncio.wait({self._ended, self._listening})
        return await self._process.wait()

    def terminate(self) -> None:
        """Ask it to commit what it did and end; a second time nothing happens."""
        if not self.was_terminated and self._process.returncode is None:
            self.was_terminated = True
            # Only the process itself: it ends those that it has started.
            with suppress(ProcessLookupError):
                self._process.terminate()

    def kill(self) -> None:
        """End it and those that it started at once; the index stays as at the last commit."""
        if self._process.returncode is None:
            self.was_killed = True
            self._kill_group()

    def _kill_group(self) -> None:
        # Once all have ended, the number may be that of others.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    async def _end(self) -> None:
        """Wait for the process alone, then end those that it has left behind.

        They hold the pipes, whose end would otherwise not come before they are done.
        """
        try:
            descriptor = os.pidfd_open(self._process.pid)
        except OSError:
            # It has ended already, or the kernel is too old to tell of it alone.
            await self._process.wait()
        else:
            loop, exited = asyncio.get_running_loop(), asyncio.Event()
            loop.add_reader(descriptor, exited.set)
            try:
                await exited.wait()
            finally:
                loop.remove_reader(descriptor)
                os.close(descriptor)
        self._kill_group()

    async def _listen(self) -> None:
        stderr = self._process.stderr
        assert stderr is not None  # noqa: S101 - it is a pipe
        while True:
            try:
                line = await stderr.readline()
            except ValueError:
                continue
            if not line:
                return
            if text := line.decode(errors="replace").strip():
                self._said.append(text[:_LINE_CHARACTERS])


def _environment() -> dict[str, str]:
    passed_on = {name: value for name, value in os.environ.items() if name not in _SECRETS}
    return passed_on | {FOR_CLIENT_VARIABLE: "1"}


async def answer_of(arguments: Sequence[str], seconds: float) -> Any:
    """Run a command of `idx` that answers soon, and return what it prints as JSON.

    Args:
        arguments: the command.
        seconds: how long it may take.

    Raises:
        ChildError: it failed, took longer, or answered nothing.
    """
    child = await Child.start(arguments)
    printed = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for line in child.lines():
                printed += line[: _LONGEST_ANSWER - len(printed)]
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
        said = child.last_words or f"idx ended with the exit code {code}"
        raise ChildError(said) from error
