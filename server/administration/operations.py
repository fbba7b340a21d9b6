"""The operations of a server: at most one at a time, and those that have ended."""

import asyncio
import signal
from asyncio import Lock
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import anyio

from server.administration.child import Child
from server.administration.operation import Operation, RequestedState
from server.administration.results import OperationName
from server.administration.roots import Roots, folder_settings
from server.answers.errors import (
    ChildError,
    OperationNotFoundError,
    OperationRunningError,
    ServerStoppingError,
)
from server.log import drain_stderr
from server.settings import ServerSettings
from shared.backends import location
from shared.files.access import own_files
from shared.system import end_by_signal, handle_signals

_MAX_ENDED_OPERATIONS: Final = 20  # ended operations kept
_REQUEST_TIMEOUT_SECONDS: Final = 5.0  # to wait for the end of an operation after a pause or stop
_COMMIT_TIMEOUT_SECONDS: Final = 60.0  # for `idx` to commit and end before it is killed
_SHUTDOWN_TIMEOUT_SECONDS: Final = 10.0  # for `idx` to commit and end during shutdown
_KILL_TIMEOUT_SECONDS: Final = 2.0  # a process that is blocked on a disk does not end


class Operations:
    """A runner of `idx` for one operation at a time."""

    def __init__(self) -> None:
        self.current: Operation | None = None  # the running or paused one
        self._past: deque[Operation] = deque(maxlen=_MAX_ENDED_OPERATIONS)
        self._run: asyncio.Task[None] | None = None
        self._is_closed = False

    @property
    def past(self) -> list[Operation]:
        """Ended operations, the most recent first."""
        return [*reversed(self._past)]

    def refuse_if_busy(self) -> None:
        if self._is_closed:
            raise ServerStoppingError
        if self.current is not None:
            raise OperationRunningError(self.current.name, self.current.id, self.current.state)

    def start(
        self, name: OperationName, command: Sequence[str], directories: Sequence[str] = ()
    ) -> Operation:
        """Start an operation without waiting for it."""
        self.refuse_if_busy()
        operation = self.current = Operation(name, command, directories)
        self._begin(operation)
        return operation

    def find(self, operation_id: str, name: OperationName | None = None) -> Operation:
        """Return the operation with an id, or the newest one."""
        known = [*([self.current] if self.current else []), *self.past]
        for operation in known:
            if operation.id == operation_id:
                return operation
            if not operation_id and name in {None, operation.name}:
                return operation
        raise OperationNotFoundError(operation_id, [operation.id for operation in known])

    async def request(self, operation: Operation, requested: RequestedState) -> None:
        """Pause or stop an operation, and wait up to five seconds for its end."""
        operation.request(requested)
        if operation.has_ended:
            self._archive(operation)
        elif operation.child is not None:
            asyncio.get_running_loop().call_later(_COMMIT_TIMEOUT_SECONDS, operation.child.kill)
        await self.wait(operation, _REQUEST_TIMEOUT_SECONDS)

    async def wait(self, operation: Operation, seconds: float) -> None:
        """Wait until the run of an operation has ended, up to a timeout in seconds."""
        if operation is self.current and self._run is not None:
            await asyncio.wait({self._run}, timeout=seconds)

    def resume(self, operation: Operation) -> None:
        """Resume a paused operation: the same command runs again and skips finished work."""
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
        if self.current is not None and self.current.child is not None:
            self.current.child.terminate()
        await asyncio.wait({self._run}, timeout=_SHUTDOWN_TIMEOUT_SECONDS)
        self.kill()
        await asyncio.wait({self._run}, timeout=_KILL_TIMEOUT_SECONDS)

    def kill(self) -> None:
        """Kill the running operation; the index stays at its last commit."""
        if self.current is not None and self.current.child is not None:
            self.current.child.kill()

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
        self.current = None
        self._past.append(operation)


def run_until_signal(serve: Callable[[], Awaitable[None]], operations: Operations) -> None:
    """Serve over stdio until the client disconnects; a signal ends the operation, then the process.

    A second signal ends both at once. No signal interrupts the thread that reads stdin.
    """
    ends: set[asyncio.Task[None]] = set()

    def stop(number: signal.Signals) -> None:
        if ends:
            operations.kill()
            _end_process(number)
        ends.add(asyncio.ensure_future(_end(number, operations)))

    async def served() -> None:
        handle_signals(stop)
        await serve()

    asyncio.run(served())


async def _end(number: signal.Signals, operations: Operations) -> None:
    await operations.close()
    _end_process(number)


def _end_process(number: signal.Signals) -> None:
    drain_stderr()
    end_by_signal(number)


@dataclass(frozen=True)
class Administration:
    """The operations on an index, and the roots of its folders."""

    index_path: Path
    roots: Roots
    files: tuple[Path | None, ...] = ()  # the server's own, such as its tokens: never indexed
    operations: Operations = field(default_factory=Operations)
    # Held to change the configuration file, which is read and written as a whole.
    configuration: Lock = field(default_factory=Lock)

    @classmethod
    def from_settings(
        cls, settings: ServerSettings, files: Sequence[Path | None] = ()
    ) -> "Administration | None":
        """Create the service from the settings; None if the server offers no administration."""
        if not settings.admin:
            return None
        return cls(location(settings.index_path), Roots.from_paths(settings.roots), tuple(files))

    @property
    def bounds(self) -> list[str]:
        """Options that restrict `idx sync` to the roots, without the server's own files."""
        kept_out = sorted(own_files(self.files))
        return [
            *(f"--only-in={device}:{inode}" for device, inode in sorted(self.roots.identities)),
            *(f"--keep-out={device}:{inode}" for device, inode in kept_out),
        ]

    def command(self, name: str, *arguments: str, paths: Sequence[str] = ()) -> list[str]:
        index = f"--index-path={self.index_path}"
        return [name, "--json", index, *arguments, *(["--", *paths] if paths else [])]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """End the running operation when the block ends, even by cancellation."""
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                await self.operations.close()

    async def start_crawl(self, directories: Sequence[str] = ()) -> Operation:
        """Start a crawl of folders, by default of those that are remembered."""
        self.operations.refuse_if_busy()
        for directory in directories:
            # Invalid folders are refused before idx is run.
            self.roots.resolve_existing(directory)
        settings = await folder_settings(self.roots)
        folders = settings.folders_to_crawl(directories, self.roots)
        return self.operations.start(
            "crawl", self.command("sync", *self.bounds, paths=folders), folders
        )

    async def resume_crawl(self, operation_id: str) -> Operation:
        """Resume a paused crawl, the newest without an id."""
        operation = self.operations.find(operation_id, "crawl")
        operation.refuse_unless_paused()
        # Folders and settings may have changed since the crawl began.
        settings = await folder_settings(self.roots)
        settings.folders_to_crawl(operation.directories, self.roots)
        self.operations.resume(operation)
        return operation

    async def request_crawl(self, operation_id: str, requested: RequestedState) -> Operation:
        """Pause or stop a crawl, the newest without an id, and wait a little for that."""
        operation = self.operations.find(operation_id, "crawl")
        await self.operations.request(operation, requested)
        return operation
