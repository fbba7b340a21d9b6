"""The operations of a server: at most one at a time, and those that have ended."""

import asyncio
import signal
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from server.administration.child import Child
from server.administration.errors import (
    ChildError,
    OperationNotFoundError,
    OperationRunningError,
    ServerStoppingError,
)
from server.administration.operation import Operation, RequestedState
from server.administration.results import OperationName
from server.pipes.stderr_queue import drain_stderr
from shared.system.processes import end_by_signal, handle_signals

_MAX_ENDED_OPERATIONS: Final = 20
"""Maximum number of ended operations kept."""

_REQUEST_TIMEOUT_SECONDS: Final = 5.0
"""Maximum time to wait for the end of an operation after a pause or stop, in seconds."""

_COMMIT_TIMEOUT_SECONDS: Final = 60.0
"""Time for `idx` to commit and end before it is killed, in seconds."""

_SHUTDOWN_TIMEOUT_SECONDS: Final = 10.0
"""Time for `idx` to commit and end during shutdown, in seconds."""

_KILL_TIMEOUT_SECONDS: Final = 2.0
"""Maximum time to wait for a killed process, in seconds; one blocked on a disk does not end."""


class Operations:
    """A runner of `idx` for one operation at a time."""

    def __init__(self) -> None:
        self._current: Operation | None = None
        self._past: deque[Operation] = deque(maxlen=_MAX_ENDED_OPERATIONS)
        self._run: asyncio.Task[None] | None = None
        self._is_closed = False

    @property
    def current(self) -> Operation | None:
        """The running or paused operation, or None."""
        return self._current

    @property
    def past(self) -> list[Operation]:
        """Ended operations, the most recent first."""
        return [*reversed(self._past)]

    def refuse_if_busy(self) -> None:
        """Refuse a second operation.

        Raises:
            OperationRunningError: an operation is running or paused.
            ServerStoppingError: the server is shutting down.
        """
        if self._is_closed:
            raise ServerStoppingError
        if self._current is not None:
            raise OperationRunningError(self._current.name, self._current.id, self._current.state)

    def start(
        self, name: OperationName, command: Sequence[str], directories: Sequence[str] = ()
    ) -> Operation:
        """Start an operation without waiting for it.

        Args:
            name: the kind of operation.
            command: the arguments of `idx`.
            directories: the folders of a crawl.

        Raises:
            OperationRunningError: another operation is running or paused.
            ServerStoppingError: the server is shutting down.
        """
        self.refuse_if_busy()
        operation = self._current = Operation(name, command, directories)
        self._begin(operation)
        return operation

    def find(self, operation_id: str, name: OperationName | None = None) -> Operation:
        """Return the operation with an id, or the newest one.

        Args:
            operation_id: the id; empty for the newest operation.
            name: the kind of the newest operation; None for any.

        Raises:
            OperationNotFoundError: no operation matches.
        """
        known = [*([self._current] if self._current else []), *self.past]
        for operation in known:
            if operation.id == operation_id:
                return operation
            if not operation_id and name in {None, operation.name}:
                return operation
        raise OperationNotFoundError(operation_id, [operation.id for operation in known])

    async def request(self, operation: Operation, requested: RequestedState) -> None:
        """Pause or stop an operation, and wait up to five seconds for its end.

        Raises:
            OperationStateError: it is not running, or cannot be paused.
        """
        operation.request(requested)
        if operation.has_ended:
            self._archive(operation)
        elif operation.child is not None:
            asyncio.get_running_loop().call_later(_COMMIT_TIMEOUT_SECONDS, operation.child.kill)
        await self.wait(operation, _REQUEST_TIMEOUT_SECONDS)

    async def wait(self, operation: Operation, seconds: float) -> None:
        """Wait until the run of an operation has ended, up to a timeout in seconds."""
        if operation is self._current and self._run is not None:
            await asyncio.wait({self._run}, timeout=seconds)

    def resume(self, operation: Operation) -> None:
        """Resume a paused operation: the same command runs again and skips finished work.

        Raises:
            OperationStateError: it is not paused.
            ServerStoppingError: the server is shutting down.
        """
        if self._is_closed:
            raise ServerStoppingError
        operation.refuse_unless_paused()
        operation.begin_run()
        self._begin(operation)

    async def close(self) -> None:
        """Refuse new operations, and terminate the running one, by a kill after ten seconds."""
        self._is_closed = True
        if self._run is None or self._run.done():
            return
        if self._current is not None and self._current.child is not None:
            self._current.child.terminate()
        await asyncio.wait({self._run}, timeout=_SHUTDOWN_TIMEOUT_SECONDS)
        self.kill()
        await asyncio.wait({self._run}, timeout=_KILL_TIMEOUT_SECONDS)

    def kill(self) -> None:
        """Kill the running operation; the index stays at its last commit."""
        if self._current is not None and self._current.child is not None:
            self._current.child.kill()

    def _begin(self, operation: Operation) -> None:
        self._run = asyncio.get_running_loop().create_task(self._execute(operation))

    async def _execute(self, operation: Operation) -> None:
        try:
            child = await Child.start(operation.command)
        except ChildError as error:
            operation.fail(str(error))
            self._archive(operation)
            return
        try:
            operation.attach(child)
            if self._is_closed:
                child.terminate()
            async for line in child.lines():
                operation.process_line(line)
            operation.end_run(child, await child.end())
        finally:
            # Whatever failed here, the next operation must be able to start.
            child.kill()
            if operation.child is not None:
                operation.fail("the server lost contact with idx; start it again")
            if operation.has_ended:
                self._archive(operation)

    def _archive(self, operation: Operation) -> None:
        self._current = None
        self._past.append(operation)


async def serve_until_signal(serve: Callable[[], Awaitable[None]], operations: Operations) -> None:
    """Serve over stdio until the client disconnects; a signal ends the operation, then the process.

    A second signal ends both at once. No signal interrupts the thread that reads stdin.
    """
    ends: set[asyncio.Task[None]] = set()

    def stop(number: signal.Signals) -> None:
        if ends:
            operations.kill()
            _end_process(number)
        ends.add(asyncio.ensure_future(_end(number, operations)))

    handle_signals(stop)
    await serve()


async def _end(number: signal.Signals, operations: Operations) -> None:
    await operations.close()
    _end_process(number)


def _end_process(number: signal.Signals) -> None:
    drain_stderr()
    end_by_signal(number)
