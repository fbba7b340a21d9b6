"""Termination of a stdio server by a signal, after the operation that it started."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from typing import Final

from server.administration.operations import Operations
from server.pipes.stderr_queue import drain_stderr

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


async def serve_until_signal(serve: Callable[[], Awaitable[None]], operations: Operations) -> None:
    """Serve until the client disconnects; a signal ends the operation, then the process.

    A second signal ends both at once.

    Args:
        serve: serves a client, and waits in a thread that no signal interrupts.
        operations: the operations to end.
    """
    loop = asyncio.get_running_loop()
    ends: set[asyncio.Task[None]] = set()

    def stop(number: signal.Signals) -> None:
        if ends:
            operations.kill()
            _end_process(number)
        ends.add(loop.create_task(_end(number, operations)))

    for number in _SIGNALS:
        loop.add_signal_handler(number, stop, number)
    await serve()


async def _end(number: signal.Signals, operations: Operations) -> None:
    await operations.close()
    _end_process(number)


def _end_process(number: signal.Signals) -> None:
    """End the process by the signal's default action, so that its sender sees its effect."""
    drain_stderr()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
