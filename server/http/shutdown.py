"""Graceful shutdown: running calls get responses, new ones are refused, the exit code is 0."""

import asyncio
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import uvicorn

from server.http.limits.admission import Admission
from server.http.telemetry.logs import LOG
from shared.system import handle_signals, release_signals

STOP_SECONDS: Final = 10.0
"""Maximum time for running calls to finish during shutdown, in seconds."""


class GracefulServer(uvicorn.Server):
    """A uvicorn server with graceful shutdown.

    Args:
        config: uvicorn's settings.
        admission: the limits on calls and streams.
        announce: called once the server accepts requests.
        flush: called after all calls have ended.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        admission: Admission,
        announce: Callable[[], None],
        flush: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._admission = admission
        self._announce = announce
        self._flush = flush
        self._told_twice = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start accepting requests."""
        await super().startup(sockets)
        if self.started:
            self._announce()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Finish running calls, refuse new requests, then close everything."""
        LOG.info("stopping", extra={"calls": self._admission.calls})
        finished = asyncio.ensure_future(self._admission.stop())
        told_twice = asyncio.ensure_future(self._told_twice.wait())
        await asyncio.wait(
            (finished, told_twice), timeout=STOP_SECONDS, return_when=asyncio.FIRST_COMPLETED
        )
        finished.cancel()
        told_twice.cancel()
        if self._admission.calls:
            LOG.warning("calls_dropped", extra={"calls": self._admission.calls})
        await asyncio.to_thread(self._flush)
        await super().shutdown(sockets)
        LOG.info("stopped")

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop gracefully at a signal, and immediately at a second one.

        uvicorn would raise the signal again at the end, which would end the process by that signal.
        Signals reach only the main thread; a server in another one is stopped by `should_exit`.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        handle_signals(self._stop)
        try:
            yield
        finally:
            release_signals()

    def _stop(self, _number: signal.Signals) -> None:
        if self.should_exit:
            self._told_twice.set()
        self.should_exit = True
