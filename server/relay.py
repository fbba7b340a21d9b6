"""The relay between one assistant and the daemon that answers for all of them.

It copies lines between stdin, stdout and the socket of a daemon, which it starts if there is none.
If the daemon dies, the relay starts another, repeats what has begun the session, and asks again
what was not answered: requests only read. It is small, so that it loads neither Java nor the SDK.
"""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from shared import daemons
from shared.settings.defaults import SHARE_VARIABLE

OTHER_LIVES: Final = 75  # exit code of a daemon that finds another (EX_TEMPFAIL of sysexits.h)

_ALONE: Final = frozenset(
    (
        *("--no-share", "--http", "--admin", "--daemon", "--help", "-h", "--version"),
        *("--install-completion", "--show-completion"),
    )
)
"""Options with which a process answers for itself."""

_OFF: Final = frozenset(("0", "off", "false", "no", "f", "n"))  # what typer takes for no

_POLL_SECONDS: Final = 0.01
_OTHER_SECONDS: Final = 0.5  # between two looks for a daemon that another relay has started
_MAX_WAIT_SECONDS: Final = 120.0  # for a daemon to begin; Java may start slowly on a busy machine

_BEGINNING: Final = frozenset(
    (
        *("initialize", "notifications/initialized", "logging/setLevel"),
        *("resources/subscribe", "resources/list"),
    )
)
"""Methods that a new daemon has to hear again: the last one has it tell of changes of the list."""

_LISTENS: Final = "subscriptions/listen"

_MAX_ATTEMPTS: Final = 2  # number of daemons that may end while they work on the same request

_MIN_LIFE_SECONDS: Final = 5.0
_MAX_EARLY_ENDS: Final = 5  # number of daemons that may end so soon, one after the other

_APART: Final[int] = sum(
    getattr(subprocess, name, 0) for name in ("CREATE_NEW_PROCESS_GROUP", "CREATE_NO_WINDOW")
)
"""Flags of Windows for a process that outlives the console."""

_INTERNAL_ERROR: Final = -32603  # of JSON-RPC 2.0


def can_share(arguments: Sequence[str]) -> bool:
    """Check whether a server with these arguments can be a relay."""
    # An option that takes a value may be written --option=value.
    options = {argument.partition("=")[0] for argument in arguments}
    return (
        not options & _ALONE
        and "_MCP_LUCENE_COMPLETE" not in os.environ
        and ("--share" in options or os.environ.get(SHARE_VARIABLE, "").lower() not in _OFF)
        # A stream that was closed before the process started is None.
        and all((sys.stdin, sys.stdout))
    )


def relay(arguments: Sequence[str]) -> int | None:
    """Relay until stdin ends, and return the exit code; None if no daemon can be reached safely."""
    path = daemons.address_of(arguments)
    if path is None:
        return None
    try:
        _Relay(arguments, path).run()
    except _DaemonFailedError as failed:
        if failed.why and sys.stderr:
            print(f"Error: {failed.why}", file=sys.stderr)
        return failed.code
    except BrokenPipeError:
        pass
    return 0


class _DaemonFailedError(Exception):
    """There is no daemon that works; one that could not start has said why on stderr."""

    def __init__(self, code: int, why: str = "") -> None:
        super().__init__(code)
        self.code, self.why = code, why


class _Relay:
    def __init__(self, arguments: Sequence[str], path: Path) -> None:
        self._arguments, self._path = arguments, path
        # Held while something is sent, and while a new daemon is told all that the last one knew.
        self._sending = threading.Lock()
        self._beginning: dict[str, bytes] = {}
        self._waiting: dict[str | int, tuple[bytes, int]] = {}
        self._log = path.with_suffix(".log")
        self._has_ended = False
        self._early_ends = 0
        self._connect()

    def run(self) -> None:
        # It cannot be interrupted while it reads stdin, unlike the process.
        threading.Thread(target=self._send_all, daemon=True).start()
        while True:
            connected = time.monotonic()
            for line in self._lines():
                self._pass_on(line)
            if self._has_ended:
                return
            is_early = time.monotonic() - connected < _MIN_LIFE_SECONDS
            self._early_ends = self._early_ends + 1 if is_early else 0
            if self._early_ends > _MAX_EARLY_ENDS:
                why = f"the process that answers ends again and again; see {self._log}"
                raise _DaemonFailedError(1, why)
            self._begin_again()

    def _send_all(self) -> None:
        for line in sys.stdin.buffer:
            with self._sending:
                self._note(line)
                # If the daemon has died, the loop that reads notices it, and repeats the line.
                with suppress(OSError):
                    self._socket.sendall(line)
            # It may be long, and the next one may come late.
            del line
        with self._sending:
            self._has_ended = True
            self._end_sending()

    def _end_sending(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def _note(self, line: bytes) -> None:
        message = parsed_message(line)
        method, id_ = message.get("method"), message.get("id")
        if method in _BEGINNING:
            self._beginning[f"{method} {_parameter(message, 'uri')}"] = line
        elif method == "resources/unsubscribe":
            self._beginning.pop(f"resources/subscribe {_parameter(message, 'uri')}", None)
        elif method == "notifications/cancelled":
            self._waiting.pop(_parameter(message, "requestId"), None)
        if method and isinstance(id_, str | int) and not isinstance(id_, bool):
            self._waiting[id_] = line, 1

    def _lines(self) -> Iterator[bytes]:
        # A daemon may be killed while something is on its way.
        with self._socket.makefile("rb") as file, suppress(OSError):
            yield from file

    def _pass_on(self, line: bytes) -> None:
        if not line.endswith(b"\n"):
            return
        message = parsed_message(line)
        if "method" not in message:
            self._waiting.pop(message.get("id", ""), None)
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()

    def _begin_again(self) -> None:
        """Tell a new daemon what the last one knew, and ask it what that one has not answered."""
        # If this one dies, too, the loop that reads notices it.
        with self._sending, suppress(OSError):
            self._socket.close()
            self._connect()
            beginning = set(self._beginning.values())
            # The server hears nothing else before it has answered the first request.
            for line in self._beginning.values():
                self._repeat(line)
            for id_, (line, attempts) in list(self._waiting.items()):
                if line in beginning:
                    continue
                # That waits for as long as the session lasts, whatever becomes of daemons.
                is_lasting = parsed_message(line).get("method") == _LISTENS
                if attempts >= _MAX_ATTEMPTS and not is_lasting:
                    self._pass_on(_failed(id_))
                    continue
                self._waiting[id_] = line, attempts + 1
                self._socket.sendall(line)
            if self._has_ended:
                self._end_sending()

    def _repeat(self, line: bytes) -> None:
        """Send a line that began the session, and drop an answer that the client already has."""
        self._socket.sendall(line)
        id_ = parsed_message(line).get("id")
        if id_ is None:
            return
        with self._socket.makefile("rb", buffering=0) as file:
            for answer in file:
                is_answer = parsed_message(answer).get("id") == id_
                if not is_answer or id_ in self._waiting:
                    self._pass_on(answer)
                if is_answer:
                    return

    def _connect(self) -> None:
        """Connect to the daemon, and start it if there is none."""
        started: subprocess.Popen[bytes] | None = None
        began = time.monotonic()
        while not (reached := daemons.connected(self._path, _MAX_WAIT_SECONDS)):
            if time.monotonic() - began > _MAX_WAIT_SECONDS:
                why = f"the process that answers does not; idx doctor shows it, {self._log} its log"
                raise _DaemonFailedError(1, why)
            pause = _POLL_SECONDS
            if started is None:
                started = self._start()
            elif (code := started.poll()) is not None:
                if code < 0:
                    why = f"the process that answers was ended at its start by signal {-code}"
                    raise _DaemonFailedError(1, why)
                if code not in {0, OTHER_LIVES}:
                    if started.stderr and sys.stderr:
                        sys.stderr.buffer.write(started.stderr.read())
                    raise _DaemonFailedError(code)
                # Another relay has started one, which may have ended since, or still does.
                started, pause = None, _OTHER_SECONDS
            time.sleep(pause)
        self._socket = reached[0]

    def _start(self) -> subprocess.Popen[bytes]:
        # -P: the current folder, which is anyone's, holds no modules of ours. A group of its own,
        # so that Ctrl-C in a terminal ends the relay alone; on Windows, and no console.
        command = [sys.executable, "-P", "-m", "server", "--daemon", str(self._path)]
        return subprocess.Popen(
            [*command, *self._arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            # What is inherited on Windows stays open there, and a client may wait for its end.
            stderr=subprocess.PIPE if sys.platform == "win32" else None,
            start_new_session=True,
            creationflags=_APART,
        )


def parsed_message(line: bytes | str) -> dict[str, Any]:
    """Return the message of a line; empty if it is not a JSON object."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _parameter(message: dict[str, Any], name: str) -> Any:
    parameters = message.get("params")
    found = parameters.get(name) if isinstance(parameters, dict) else None
    return found if isinstance(found, str | int) else ""


def _failed(id_: str | int) -> bytes:
    text = "the process that answers ended twice while it worked on this request"
    error = {"code": _INTERNAL_ERROR, "message": text}
    return json.dumps({"jsonrpc": "2.0", "id": id_, "error": error}).encode() + b"\n"
