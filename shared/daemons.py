"""The processes that answer for several assistants, and how their relays find them.

Each assistant starts `mcp-lucene` for itself. On systems with Unix sockets that process is a relay
(`server.relay`) to one daemon (`server.daemon`), which has Java and the model. A folder that only
this user can open has three files of each daemon: its socket, the lock that it holds while it
lives, and what it has logged. Importing this module loads little, since a relay is small.
"""

import hashlib
import json
import os
import re
import socket
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from shared.settings.defaults import (
    CONFIGURATION_VARIABLE,
    INDEX_PATH_VARIABLE,
    MODEL_CACHE_VARIABLE,
    OPENSEARCH_CA_VARIABLE,
    SHARE_VARIABLE,
    VARIABLES,
)

_UNIX: Final[Any] = getattr(socket, "AF_UNIX", None)

CAN_SHARE: Final = _UNIX is not None
"""Whether this system has what a daemon is reached by."""

_READ_BY_SERVERS: Final = re.compile(
    "(IDX|MCP_LUCENE|HF)_.*|HOME|TZ|XDG_(CONFIG|DATA|CACHE|STATE)_HOME|PYTHON(PATH|HOME)"
    "|JAVA_TOOL_OPTIONS|JDK_JAVA_OPTIONS|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE|.*_PROXY"
)
"""Names of variables by which two servers differ. Those of a session do not count, since some
clients start servers without them."""

_PATHS: Final = (CONFIGURATION_VARIABLE, MODEL_CACHE_VARIABLE, OPENSEARCH_CA_VARIABLE)
_LISTS_OF_PATHS: Final = (VARIABLES["originals"], VARIABLES["folders"])
"""Variables whose values may begin at the current folder."""

_MAX_PATH_BYTES: Final = 100
"""Maximum length of the path of a socket, in bytes, on every system."""

_GREETING_SECONDS: Final = 2.0
"""Maximum time for a daemon to greet who only asks what it is, in seconds."""


def folder() -> Path | None:
    """Return the folder of sockets, made if need be.

    None if others could open or replace it, or if no socket can be made there.
    """
    user = getattr(os, "getuid", int)()
    own = os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{user}"
    base = own if os.access(own, os.W_OK | os.X_OK) else os.environ.get("TMPDIR") or "/tmp"  # noqa: S108 - checked below
    found = Path(base, f"mcp-lucene-{user}")
    probe = found / f"{os.getpid()}.probe"
    try:
        around = found.parent.stat()
        found.mkdir(mode=0o700, exist_ok=True)
        state = found.lstat()
        # Whoever may rename it could put another one in its place.
        is_safe = around.st_uid in {0, user} and (
            not around.st_mode & 0o022 or around.st_mode & stat.S_ISVTX
        )
        is_ours = stat.S_ISDIR(state.st_mode) and state.st_uid == user and not state.st_mode & 0o077
        if not (is_safe and is_ours) or len(os.fsencode(found)) + 24 > _MAX_PATH_BYTES:
            return None
        with socket.socket(_UNIX) as tried:
            tried.bind(str(probe))
        probe.unlink()
    except OSError:
        return None
    return found


def name_of(arguments: Sequence[str]) -> str:
    """Return the name that servers share which would answer alike.

    It is a hash of the arguments, of what else they read at their start, and of the installation,
    so that an upgrade has a daemon of its own. An OSError says that there is no current folder.
    """
    from shared.settings.current import configuration_file

    variables = {
        name: text
        for name, text in os.environ.items()
        if _READ_BY_SERVERS.fullmatch(name.upper()) and name != SHARE_VARIABLE
    }
    package = Path(__file__).parent
    versions = [_version(path) for path in (configuration_file(), package, package.parent)]
    parts = [sys.executable, [*arguments], sorted(variables.items()), versions]
    parts.append("" if _is_absolute(arguments, variables) else os.getcwd())  # noqa: PTH109 - pathlib adds nothing
    text = json.dumps(parts).encode(errors="surrogatepass")
    return hashlib.sha256(text).hexdigest()[:16]


def _is_absolute(arguments: Sequence[str], variables: Mapping[str, str]) -> bool:
    """Check that nothing which a server reads begins at the current folder."""
    named = [argument for argument in arguments if not argument.startswith("-")]
    # The only path among the arguments is that of the index, before which the variable stands back.
    index = named or [variables.get(INDEX_PATH_VARIABLE, "")]
    others = [variables[name] for name in _PATHS if name in variables]
    for name in _LISTS_OF_PATHS:
        others += filter(None, variables.get(name, "").split(os.pathsep))
    model = variables.get(VARIABLES["semantic"], "")
    return (
        any(Path(text).is_absolute() or "://" in text for text in index)
        and all(text == "off" or Path(text).expanduser().is_absolute() for text in others)
        and (not model or Path(model).is_absolute() or not Path(model).is_dir())
    )


def _version(path: Path) -> Sequence[int]:
    try:
        state = path.stat()
    except OSError:
        return ()
    return state.st_ino, state.st_mtime_ns, state.st_size


def connected(
    path: Path, seconds: float | None = None
) -> tuple[socket.socket, Mapping[str, Any]] | None:
    """Return a connection to a daemon, and its greeting.

    None if it does not live, ends, or says nothing for some seconds. The greeting has the number of
    its process (``pid``), its ``index``, when it was ``started`` (seconds since 1970), and for how
    many assistants it works (``clients``).
    """
    connection = socket.socket(_UNIX)
    try:
        connection.settimeout(seconds)
        connection.connect(str(path))
        if greeting := _line(connection):
            connection.settimeout(None)
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
        if reached := connected(path, _GREETING_SECONDS):
            reached[0].close()
            yield reached[1]
