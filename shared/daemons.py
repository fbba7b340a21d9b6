"""The processes that answer for several assistants, and how their relays find them.

Each assistant starts `mcp-lucene` for itself. On systems with Unix sockets that process is a relay
(`server.relay`) to one daemon (`server.daemon`), which has Java and the model. A folder that only
this user can open has three files of each daemon: its socket, the lock that it holds while it
lives, and what it has logged. Importing this module loads little, since a relay is small.
"""

import hashlib
import json
import os
import socket
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from shared.settings.defaults import INDEX_PATH_VARIABLE, SHARE_VARIABLE

CAN_SHARE: Final = hasattr(socket, "AF_UNIX")
"""Whether this system has what a daemon is reached by."""

_READ_BY_SERVERS: Final = (
    *("IDX_", "PYTHON", "JAVA", "MCP_LUCENE_", "HF_", "SSL_", "REQUESTS_", "XDG_", "LC_"),
    *("LANG", "TZ", "HOME", "TMPDIR", "HTTP", "ALL_PROXY", "NO_PROXY"),
)
"""Beginnings of the names of variables by which two servers differ."""

_GREETING_SECONDS: Final = 2.0
"""Maximum time for a daemon to greet who only asks what it is, in seconds."""


def folder() -> Path | None:
    """Return the folder of sockets, made if need be; None if others could open or replace it."""
    user = os.getuid()
    own = os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{user}"
    # Some clients start servers without the variables of the session.
    base = own if os.access(own, os.W_OK | os.X_OK) else os.environ.get("TMPDIR") or "/tmp"  # noqa: S108 - checked below
    found = Path(base, f"mcp-lucene-{user}")
    try:
        found.mkdir(mode=0o700, exist_ok=True)
        state = found.lstat()
    except OSError:
        return None
    is_ours = stat.S_ISDIR(state.st_mode) and state.st_uid == user and not state.st_mode & 0o077
    return found if is_ours else None


def name_of(arguments: Sequence[str]) -> str:
    """Return the name that servers share which would answer alike.

    It is a hash of the arguments, of what else they read at their start, and of the installation,
    so that an upgrade has a daemon of its own.
    """
    from shared.settings.current import configuration_file

    variables = {
        name: text for name, text in os.environ.items() if name.upper().startswith(_READ_BY_SERVERS)
    }
    variables.pop(SHARE_VARIABLE, None)
    named = [*arguments, variables.get(INDEX_PATH_VARIABLE, "")]
    is_absolute = any(Path(text).is_absolute() or "://" in text for text in named)
    package = Path(__file__).parent
    versions = [_version(path) for path in (configuration_file(), package, package.parent)]
    parts = [sys.executable, [*arguments], sorted(variables.items()), versions]
    # A path that is relative, or that of the configuration, begins at the current folder.
    parts.append("" if is_absolute else os.getcwd())  # noqa: PTH109 - pathlib adds nothing
    text = json.dumps(parts).encode(errors="surrogatepass")
    return hashlib.sha256(text).hexdigest()[:16]


def _version(path: Path) -> Sequence[int]:
    try:
        state = path.stat()
    except OSError:
        return ()
    return state.st_ino, state.st_mtime_ns, state.st_size


def connected(path: Path) -> tuple[socket.socket, Mapping[str, Any]] | None:
    """Return a connection to a daemon, and its greeting; None if it does not live, or ends.

    The greeting has the number of its process (``pid``), its ``arguments``, when it was ``started``
    (seconds since 1970), and for how many assistants it works (``clients``).
    """
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(str(path))
        if greeting := _line(connection):
            return connection, json.loads(greeting)
    except (OSError, ValueError):
        pass
    connection.close()
    return None


def _line(connection: socket.socket) -> bytes:
    """Return the first line; empty if the connection ended before."""
    line = bytearray()
    # Nothing follows before the first request, but what does must stay for who reads on.
    while part := connection.recv(1):
        if part == b"\n":
            return bytes(line)
        line += part
    return b""


def running() -> Iterator[Mapping[str, Any]]:
    """Yield the greetings of the daemons of this user."""
    found = folder() if CAN_SHARE else None
    for path in sorted(found.glob("*.socket")) if found else ():
        socket.setdefaulttimeout(_GREETING_SECONDS)
        try:
            reached = connected(path)
        finally:
            socket.setdefaulttimeout(None)
        if reached:
            reached[0].close()
            yield reached[1]
