"""Termination of a stdio server by a signal, after the operation that it started."""

import asyncio
import signal
from collections.abc import Awaitable, Callable

from server.administration.operations import Operations
from server.pipes.stderr_queue import drain_stderr
from shared.system import end_by_signal, handle_signals


async def serve_until_signal(serve: Callable[[], Awaitable[None]], operations: Operations) -> None:
    """Serve until the client disconnects; a signal ends the operation, then the process.

    A second signal ends both at once.

    Args:
        serve: serves a client, and waits in a thread that no signal interrupts.
        operations: the operations to end.
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
