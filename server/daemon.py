"""The daemon that answers for all assistants of one user who ask for the same.

It is started by the first relay (`server.relay`), listens where only this user finds it
(`shared.daemons`), and ends at most five minutes after the last relay has left. The lock that it
holds tells whether there is one; its file stays, so that nobody can hold a deleted one.
"""

import asyncio
import hmac
import json
import logging
import os
import secrets
import socket
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import anyio
import typer
from mcp.server.stdio import stdio_server

from server.relay import OTHER_LIVES
from shared import daemons
from shared.system import delete, lock, replace

if TYPE_CHECKING:
    from server.search_server import SearchServer

LINGER_SECONDS: Final = 300.0
"""Maximum time after the last relay has left in which the next one finds the daemon, in seconds. It
is no longer than the daemon has been of use: many short sessions leave no crowd behind."""

_FIRST_SECONDS: Final = 60.0  # for the first relay to connect
_MAX_LINE_BYTES: Final = 2**26  # of a message; a relay is told to wait at twice as much
_CLOSE_SECONDS: Final = 1.0  # for a relay to read the last message
_PROOF_SECONDS: Final = 2.0  # for a relay to show the key

_LOG: Final = logging.getLogger(__name__)


def listening(path: Path) -> tuple[socket.socket, bytes]:
    """Return a listening socket for relays, and its key; empty if nobody else can connect to it.

    The path is that of the socket, or of a file with its port and the key.
    """
    descriptor = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    if not lock(descriptor):
        raise typer.Exit(OTHER_LIVES)
    with suppress(FileNotFoundError):
        delete(path)
    if path.suffix == ".socket":
        listener = socket.socket(daemons.UNIX)
        listener.bind(str(path))
        listener.listen()
        return listener, b""
    listener = socket.create_server((daemons.LOOPBACK, 0))
    key = secrets.token_hex().encode()
    text = json.dumps({"port": listener.getsockname()[1], "key": key.decode()})
    new = path.with_suffix(".new")
    # Nobody else can read it in this folder.
    new.write_text(text, "ascii")
    replace(new, path)
    return listener, key


def serve_daemon(server: "SearchServer", listener: socket.socket, key: bytes, path: Path) -> None:
    """Serve relays until none has come for a while."""
    from server.log import log_over_stdio

    # Until here errors were for the client whose relay has started the daemon.
    log = os.open(path.with_suffix(".log"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(log, 2)
    log_over_stdio()
    asyncio.run(Daemon(server, path, key).serve(listener))


class Daemon:
    """The sessions of all relays on one server."""

    def __init__(
        self,
        server: "SearchServer",
        path: Path,
        key: bytes = b"",
        linger: float = LINGER_SECONDS,
    ) -> None:
        self._server, self._path, self._key, self._linger = server, path, key, linger
        self._started = time.time()
        self._clients = 0
        self._unused = asyncio.Event()
        self._end: asyncio.TimerHandle | None = None

    async def serve(self, listener: socket.socket) -> None:
        """Serve until no relay has come for a while."""
        async with self._server.sessions() as serve_session:

            async def session(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                if not await self._admits(reader, writer):
                    await _close(writer)
                    return
                self._count(1)
                try:
                    await self._greet(writer)
                    # They have what it uses of a file.
                    lines, sent = cast("Any", _Lines(reader)), cast("Any", _Sent(writer))
                    async with stdio_server(lines, sent) as streams:
                        await serve_session(*streams)
                except* (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                    # The relay was killed.
                    pass
                except* Exception:  # noqa: BLE001 - other sessions go on
                    _LOG.exception("a session ended")
                finally:
                    self._count(-1)
                    await _close(writer)

            relays = await asyncio.start_server(session, sock=listener, limit=_MAX_LINE_BYTES)
            self._end_after(_FIRST_SECONDS)
            await self._unused.wait()
            # Who connects from now on is refused, and starts the next daemon.
            with suppress(FileNotFoundError):
                delete(self._path)
            relays.close()

    async def _admits(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Check that a relay has the key, after it was shown that this is its daemon."""
        if not self._key:
            return True
        try:
            async with asyncio.timeout(_PROOF_SECONDS):
                nonce = await reader.readexactly(len(self._key) + 1)
                writer.write(daemons.proof(self._key, nonce[:-1]) + b"\n")
                await writer.drain()
                shown = await reader.readexactly(len(self._key) + 1)
                return hmac.compare_digest(shown[:-1], self._key)
        except (EOFError, OSError, TimeoutError):
            return False

    async def _greet(self, writer: asyncio.StreamWriter) -> None:
        greeting = {
            "pid": os.getpid(),
            "index": str(self._server.state.settings.index_path),
            "started": self._started,
            "clients": self._clients - 1,
        }
        writer.write(json.dumps(greeting).encode() + b"\n")
        await writer.drain()

    def _count(self, change: int) -> None:
        self._clients += change
        if self._end:
            self._end.cancel()
            self._end = None
        if not self._clients:
            self._end_after(min(self._linger, time.time() - self._started))

    def _end_after(self, seconds: float) -> None:
        self._end = asyncio.get_running_loop().call_later(seconds, self._unused.set)


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError, TimeoutError):
        await asyncio.wait_for(writer.wait_closed(), _CLOSE_SECONDS)


class _Lines:
    """What a relay sends, as the SDK reads stdin."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await self._reader.readline():
            yield line.decode(errors="replace")


class _Sent:
    """What a relay receives, as the SDK writes stdout."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def write(self, text: str) -> None:
        self._writer.write(text.encode())

    async def flush(self) -> None:
        await self._writer.drain()
