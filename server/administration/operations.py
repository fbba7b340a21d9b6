"""The operations of a server: one at a time, and those that ended before."""

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Final

from server.administration.child import Child
from server.administration.errors import (
    ChildError,
    OperationNotFoundError,
    OperationRunningError,
    ServerStoppingError,
)
from server.administration.operation import Operation, Wish
from server.administration.results import OperationName

_REMEMBERED: Final = 20
"""Operations that are remembered after their end."""

_SECONDS_TO_ANSWER: Final = 5.0
"""How long a client that pauses or stops an operation waits for its end."""

_SECONDS_TO_COMMIT: Final = 60.0
"""How long `idx` may take to commit and end, before it is made to end."""

_SECONDS_TO_CLOSE: Final = 10.0
"""The same when the server itself ends."""

_SECONDS_TO_DIE: Final = 2.0
"""How long a process that was killed is waited for; one that waits for a disk does not end."""


class Operations:
    """Runs `idx` for one operation at a time."""

    def __init__(self) -> None:
        self._current: Operation | None = None
        self._past: deque[Operation] = deque(maxlen=_REMEMBERED)
        self._run: asyncio.Task[None] | None = None
        self._is_closed = False

    @property
    def current(self) -> Operation | None:
        """What is under way, or paused; None if there is nothing."""
        return self._current

    @property
    def past(self) -> list[Operation]:
        """Those that have ended, the last first."""
        return [*reversed(self._past)]

    def refuse_if_busy(self) -> None:
        """Refuse what would be a second operation.

        Raises:
            OperationRunningError: there is one.
            ServerStoppingError: the server ends.
        """
        if self._is_closed:
            raise ServerStoppingError
        if self._current is not None:
            raise OperationRunningError(self._current.name, self._current.id, self._current.state)

    def start(
        self, name: OperationName, command: Sequence[str], directories: Sequence[str] = ()
    ) -> Operation:
        """Begin an operation and return at once.

        Args:
            name: what it does.
            command: the arguments of `idx`.
            directories: the folders of a crawl.

        Raises:
            OperationRunningError: there is one.
            ServerStoppingError: the server ends.
        """
        self.refuse_if_busy()
        operation = self._current = Operation(name, command, directories)
        self._begin(operation)
        return operation

    def find(self, operation_id: str, name: OperationName | None = None) -> Operation:
        """The operation of an id.

        Args:
            operation_id: the id; empty for the newest operation.
            name: what the newest one is to be of; None for any.

        Raises:
            OperationNotFoundError: there is none.
        """
        known = [*([self._current] if self._current else []), *self.past]
        for operation in known:
            if operation.id == operation_id:
                return operation
            if not operation_id and name in {None, operation.name}:
                return operation
        raise OperationNotFoundError(operation_id, [operation.id for operation in known])

    async def ask(self, operation: Operation, wish: Wish) -> None:
        """Have an operation paused or stopped, and wait a while until it is.

        Raises:
            OperationStateError: it is not running, or cannot be paused.
        """
        operation.ask(wish)
        if operation.has_ended:
            self._put_away(operation)
        elif operation.child is not None:
            asyncio.get_running_loop().call_later(_SECONDS_TO_COMMIT, operation.child.kill)
        await self.wait(operation, _SECONDS_TO_ANSWER)

    async def wait(self, operation: Operation, seconds: float) -> None:
        """Wait until `idx` has ended for an operation, but no longer than so many seconds."""
        if operation is self._current and self._run is not None:
            await asyncio.wait({self._run}, timeout=seconds)

    def resume(self, operation: Operation) -> None:
        """Go on with a paused operation: the same command again, which skips what is done.

        Raises:
            OperationStateError: it is not paused.
            ServerStoppingError: the server ends.
        """
        if self._is_closed:
            raise ServerStoppingError
        operation.refuse_unless_paused()
        operation.begin_run()
        self._begin(operation)

    async def close(self) -> None:
        """Begin nothing any more, and end what runs: in order, or else after ten seconds."""
        self._is_closed = True
        if self._run is None or self._run.done():
            return
        if self._current is not None and self._current.child is not None:
            self._current.child.terminate()
        await asyncio.wait({self._run}, timeout=_SECONDS_TO_CLOSE)
        self.kill()
        await asyncio.wait({self._run}, timeout=_SECONDS_TO_DIE)

    def kill(self) -> None:
        """End what runs at once; the index stays as at the last commit."""
        if self._current is not None and self._current.child is not None:
            self._current.child.kill()

    def _begin(self, operation: Operation) -> None:
        self._run = asyncio.get_running_loop().create_task(self._carry_out(operation))

    async def _carry_out(self, operation: Operation) -> None:
        try:
            child = await Child.start(operation.command)
        except ChildError as error:
            operation.fail(error.for_client)
            self._put_away(operation)
            return
        try:
            operation.runs_as(child)
            if self._is_closed:
                child.terminate()
            async for line in child.lines():
                operation.take(line)
            operation.end_run(child, await child.end())
        finally:
            # Whatever went wrong here, the next operation can begin.
            child.kill()
            if operation.child is not None:
                operation.fail("the server lost contact with idx; start it again")
            if operation.has_ended:
                self._put_away(operation)

    def _put_away(self, operation: Operation) -> None:
        self._current = None
        self._past.append(operation)
