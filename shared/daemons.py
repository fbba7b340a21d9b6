"""The processes that answer for several assistants, and how their relays find them.

Each assistant starts `mcp-lucene` for itself. That process is a relay (`server.relay`) to one
daemon (`server.daemon`), which has Java and the model. A folder that only this user can open has
three files of each daemon: its socket, the lock that it holds while it lives, and what it has
logged. Where no Unix socket can be made, as on Windows, a file has a port of this machine instead,
and a key: with it each side proves that it is of this user before it hears anything of the other.
Importing this module loads little, since a relay is small.
"""

import hashlib
import hmac
import json
import os
import re
import secrets
import socket
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from shared.settings import defaults

UNIX: Final[Any] = getattr(socket, "AF_UNIX", None)

LOOPBACK: Final = "127.0.0.1"

_READ_BY_SERVERS: Final = re.compile(
    "(IDX|MCP_LUCENE|HF)_.*|HOME|TZ|XDG_(CONFIG|DATA|CACHE|STATE)_HOME|PYTHON(PATH|HOME)"
    "|USERPROFILE|(LOCAL)?APPDATA"
    "|JAVA_TOOL_OPTIONS|JDK_JAVA_OPTIONS|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE|.*_PROXY"
)
"""Names of variables by which two servers differ. Those of a session do not count, since some
clients start servers without them."""

_PATHS: Final = (
    defaults.CONFIGURATION_VARIABLE,
    defaults.MODEL_CACHE_VARIABLE,
    defaults.OPENSEARCH_CA_VARIABLE,
)
_LISTS_OF_PATHS: Final = (defaults.VARIABLES["originals"], defaults.VARIABLES["folders"])
"""Variables whose values may begin at the current folder."""

_MAX_PATH_BYTES: Final = 100
"""Maximum length of the path of a socket, in bytes, on every system."""

_MAX_GREETING_BYTES: Final = 100_000

_PROOF_SECONDS: Final = 1.0
"""Maximum time for whoever listens at a port to prove that it is the daemon, in seconds."""

_GREETING_SECONDS: Final = 2.0
"""Maximum time for a daemon to greet who only asks what it is, in seconds."""


def folder() -> Path | None:
    """Return the folder of daemons, made if need be; None if others could open or replace it."""
    try:
        return _of_profile() if sys.platform == "win32" else _of_session()
    except OSError:
        return None


def _of_profile() -> Path | None:
    # Windows lets others into no folder of a user's profile.
    base = os.environ.get("LOCALAPPDATA")
    found = Path(base, "mcp-lucene", "shared") if base else None
    if found:
        found.mkdir(parents=True, exist_ok=True)
    return found


def _of_session() -> Path | None:
    user = getattr(os, "getuid", int)()
    own = os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{user}"
    base = own if os.access(own, os.W_OK | os.X_OK) else os.environ.get("TMPDIR") or "/tmp"  # noqa: S108 - checked below
    found = Path(base, f"mcp-lucene-{user}")
    around = found.parent.stat()
    found.mkdir(mode=0o700, exist_ok=True)
    state = found.lstat()
    # Whoever may rename it could put another one in its place.
    is_safe = around.st_uid in {0, user} and (
        not around.st_mode & 0o022 or around.st_mode & stat.S_ISVTX
    )
    is_ours = stat.S_ISDIR(state.st_mode) and state.st_uid == user and not state.st_mode & 0o077
    return found if is_safe and is_ours else None


def address_of(arguments: Sequence[str]) -> Path | None:
    """Return the path of the socket, or of the file with the port, of the daemon for a relay.

    None if others could open its folder, or if there is no current folder.
    """
    try:
        if (found := folder()) is None:
            return None
        return found / f"{name_of(arguments)}{'.socket' if _has_sockets(found) else '.port'}"
    except OSError:
        return None


def _has_sockets(found: Path) -> bool:
    if UNIX is None or len(os.fsencode(found)) + 24 > _MAX_PATH_BYTES:
        return False
    probe = found / f"{os.getpid()}.probe"
    try:
        with socket.socket(UNIX) as tried:
            tried.bind(str(probe))
        probe.unlink()
    except OSError:
        return False
    return True


def proof(key: bytes, nonce: bytes) -> bytes:
    """Return what only a daemon with a key can say to a relay that has sent a nonce."""
    return hmac.new(key, nonce, hashlib.sha256).hexdigest().encode()


def name_of(arguments: Sequence[str]) -> str:
    """Return the name that servers share which would answer alike.

    It is a hash of the arguments, of what else they read at their start, and of the installation,
    so that an upgrade has a daemon of its own. An OSError says that there is no current folder.
    """
    from shared.settings.current import configuration_file

    variables = {
        name: text
        for name, text in os.environ.items()
        if _READ_BY_SERVERS.fullmatch(name.upper()) and name != defaults.SHARE_VARIABLE
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
    index = named or [variables.get(defaults.INDEX_PATH_VARIABLE, "")]
    others = [variables[name] for name in _PATHS if name in variables]
    for name in _LISTS_OF_PATHS:
        others += filter(None, variables.get(name, "").split(os.pathsep))
    model = variables.get(defaults.VARIABLES["semantic"], "")
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
    is_port = path.suffix == ".port"
    connection = socket.socket(socket.AF_INET if is_port else UNIX)
    try:
        connection.settimeout(seconds)
        if is_port:
            _connect(connection, **json.loads(path.read_bytes()))
        else:
            connection.connect(str(path))
        if greeting := _line(connection):
            connection.settimeout(None)
            return connection, json.loads(greeting)
    except (OSError, TypeError, ValueError):
        pass
    connection.close()
    return None


def _connect(connection: socket.socket, port: int, key: str) -> None:
    """Connect to a port, which may be another program's by now, and show the key to its owner."""
    seconds = connection.gettimeout()
    # Not for long: meanwhile a daemon that starts may have written another port.
    connection.settimeout(_PROOF_SECONDS)
    connection.connect((LOOPBACK, port))
    nonce = secrets.token_hex().encode()
    connection.sendall(nonce + b"\n")
    wanted = proof(key.encode(), nonce)
    if not hmac.compare_digest(_line(connection, len(wanted)), wanted):
        raise ConnectionRefusedError
    connection.sendall(key.encode() + b"\n")
    connection.settimeout(seconds)


def _line(connection: socket.socket, most: int = _MAX_GREETING_BYTES) -> bytes:
    """Return the first line; empty if it is too long, or if the connection ended before."""
    line = bytearray()
    # Nothing follows before the first request, but what does must stay for who reads on.
    while len(line) <= most and (part := connection.recv(1)):
        if part == b"\n":
            return bytes(line)
        line += part
    return b""


def running() -> Iterator[Mapping[str, Any]]:
    """Yield the greetings of the daemons of this user."""
    found = folder()
    for path in sorted((*found.glob("*.socket"), *found.glob("*.port"))) if found else ():
        if reached := connected(path, _GREETING_SECONDS):
            reached[0].close()
            yield reached[1]
