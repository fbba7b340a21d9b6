"""Extraction of documents and presentations of Office 97 to 2003, which LibreOffice converts."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from idx.errors import UnsupportedFileError
from idx.extraction import media_types
from idx.extraction.file_type import refuse
from idx.extraction.media_types import Kind
from idx.extraction.office.open_document import extract_odp, extract_odt
from idx.extraction.types import Extracted, Source
from shared import system
from shared.system.shell import find_program

_PROGRAMS: Final = ("soffice", "libreoffice")
_MACOS: Final = Path("/Applications/LibreOffice.app/Contents/MacOS/soffice")

_SECONDS: Final = 60.0
"""Maximum time of a conversion, in seconds; it usually takes two."""

_MAX_OUTPUT_BYTES: Final = 100_000_000
"""Maximum size of each file that LibreOffice writes, in bytes."""

_REGISTRY: Final = "org.openoffice"
_SETTINGS: Final = (
    ("Office.Common/Security/Scripting", "DisableMacrosExecution", "true"),
    ("Office.Common/Security/Scripting", "MacroSecurityLevel", "3"),
    ("Office.Common/Security/Scripting", "BlockUntrustedRefererLinks", "true"),
    # A proxy that does not exist, so that no picture in a document is fetched.
    ("Inet/Settings", "ooInetProxyType", "2"),
    ("Inet/Settings", "ooInetHTTPProxyName", "127.0.0.1"),
    ("Inet/Settings", "ooInetHTTPProxyPort", "9"),
    ("Inet/Settings", "ooInetHTTPSProxyName", "127.0.0.1"),
    ("Inet/Settings", "ooInetHTTPSProxyPort", "9"),
)
"""Settings of the profile: group, name and value."""

_READERS: Final[dict[str, tuple[str, str, Callable[[Source], Extracted]]]] = {
    media_types.DOC: ("doc", "odt", extract_odt),
    media_types.PPT: ("ppt", "odp", extract_odp),
}
_KINDS: Final = {
    media_types.DOC: Kind.OLD_DOCUMENT,
    media_types.PPT: Kind.OLD_PRESENTATION,
}


def find_libreoffice() -> str | None:
    """Return the absolute path of LibreOffice; None if it is not installed."""
    return find_program(*_PROGRAMS) or (str(_MACOS) if _MACOS.exists() else None)


def extract_old_office(source: Source) -> Extracted:
    """Extract a .doc or .ppt through LibreOffice."""
    if source.options.libreoffice is None:
        kind = _KINDS[source.media_type]
        if media_types.by_name(source.file) not in {None, source.media_type}:
            refuse(source.file, kind, source.media_type)
        what = kind.value.format(media_type=source.media_type)
        raise UnsupportedFileError(source.file, f"is {what}, or install LibreOffice")
    before, after, extract = _READERS[source.media_type]
    data = _converted(source, source.options.libreoffice, before, after)
    return replace(extract(replace(source, data=data)), media_type=source.media_type)


def _converted(source: Source, program: str, before: str, after: str) -> bytes:
    # A profile of its own: the user's may run programs, and only one process may have it.
    with tempfile.TemporaryDirectory(prefix="idx-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / f"file.{before}").write_bytes(source.data)
        profile = folder / "profile" / "user"
        profile.mkdir(parents=True)
        (profile / "registrymodifications.xcu").write_text(_profile(), "utf-8")
        command = [
            *(program, "--headless", "--norestore", "--nologo", "--nolockcheck", "--nodefault"),
            *(f"-env:UserInstallation={(folder / 'profile').as_uri()}", "--convert-to", after),
            *("--outdir", str(folder / "out"), str(folder / f"file.{before}")),
        ]
        _run(command, folder, min(_SECONDS, source.options.member_seconds))
        try:
            return (folder / "out" / f"file.{after}").read_bytes()
        except FileNotFoundError as error:
            raise ValueError("LibreOffice cannot read it") from error


def _run(command: list[str], folder: Path, seconds: float) -> None:
    """Run LibreOffice and all that it starts, and end them after some time."""
    kept = ("PATH", "LANG", "SYSTEMROOT", "WINDIR", "TEMP", "TMP")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    posix = {} if sys.platform == "win32" else {"preexec_fn": _confine, "start_new_session": True}
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={**environment, "HOME": str(folder)},
            **posix,  # type: ignore[call-overload]  # its types have no dictionary of arguments
        )
    except OSError as error:
        raise ValueError(f"LibreOffice cannot be started: {error}") from error
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired as error:
        raise ValueError("LibreOffice took too long") from error
    finally:
        with suppress(ProcessLookupError):
            if sys.platform == "win32":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _confine() -> None:
    """Limit time and output of the program, and end it with its parent."""
    system.end_with_parent()
    system.limit_processor_time(int(_SECONDS))
    system.limit_file_size(_MAX_OUTPUT_BYTES)


def _profile() -> str:
    items = "".join(
        f'<item oor:path="/{_REGISTRY}.{group}"><prop oor:name="{name}" oor:op="fuse">'
        f"<value>{value}</value></prop></item>"
        for group, name, value in _SETTINGS
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        '<oor:items xmlns:oor="http://openoffice.org/2001/registry">'
        f"{items}</oor:items>"
    )
