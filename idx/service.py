"""The service that keeps an index equal to folders while the user is logged in.

It runs `idx watch` by what the system has for this: a unit of systemd, an agent of launchd, or a
task of Windows. Each index has a service of its own.
"""

import hashlib
import os
import plistlib
import re
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

from platformdirs import user_config_path, user_data_path, user_state_path

from shared.errors import McpLuceneError
from shared.files.index_folder import is_cluster
from shared.settings import defaults
from shared.system.shell import find_program, joined

_SECRETS: Final = {
    *defaults.KEY_VARIABLES.values(),
    defaults.OPENSEARCH_PASSWORD_VARIABLE,
    defaults.OPENSEARCH_TOKEN_VARIABLE,
    defaults.TOKENS_VARIABLE,
    defaults.VARIABLES["pdf_password"],
}
"""Variables that are written into no file."""

_AROUND: Final = ("PATH", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")
"""Variables that say where programs and settings are, which a login may not set."""

_TIMEOUT_SECONDS: Final = 60.0

Command = Sequence[str]


class ServiceError(McpLuceneError):
    """The system did not do what was asked of its services."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a system has for services."""

    program: str  # controls them
    file: Path
    text: Callable[[str, Command, Mapping[str, str]], bytes]  # of that file
    clear: Sequence[Command]  # end one that runs; they may fail, since none may run
    start: Sequence[Command]  # now and at each login
    stop: Sequence[Command]  # keep it from starting again
    state: Command  # succeeds if it runs; on Windows, if it is installed
    said: str = ""  # what that command then says


class Service:
    def __init__(self, index_path: Path, system: str = sys.platform) -> None:
        # Each of the names of a folder means the same service.
        is_folder = not is_cluster(index_path)
        self.index_path = Path(os.path.realpath(index_path)) if is_folder else index_path
        words = re.sub(r"\W+", "-", self.index_path.name, flags=re.ASCII).strip("-") or "index"
        digest = hashlib.sha256(os.fsencode(self.index_path)).hexdigest()[:8]
        self.name = f"idx-watch-{words[:40]}-{digest}"
        self._kind = _kind_of(self.name, system)
        self.file = self._kind.file

    def install(self, arguments: Sequence[str], variables: Mapping[str, str]) -> None:
        """Start ``idx`` with arguments now and at each login, in the current folder.

        Nothing is installed if the system has no such services, or refuses.
        """
        self._check_program()
        command = [sys.executable, "-P", "-m", "idx", *arguments]
        text = self._kind.text(self.name, command, variables)
        before = self.file.read_bytes() if self.file.exists() else None
        self._write(text)
        for step in self._kind.clear:
            _done(step)
        try:
            for step in self._kind.start:
                _run(step)
        except ServiceError:
            self.file.unlink() if before is None else self._write(before)
            raise

    def _write(self, content: bytes) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.touch(mode=0o600)
        self.file.write_bytes(content)

    def uninstall(self) -> bool:
        """End it, also at the next login; False if there is none.

        If the system refuses, its file is gone all the same.
        """
        if not self.file.exists():
            return False
        try:
            self._check_program()
            for step in self._kind.clear:
                _done(step)
            for step in self._kind.stop:
                _run(step)
        finally:
            self.file.unlink(missing_ok=True)
        return True

    def runs(self) -> bool:
        if not find_program(self._kind.program):
            return False
        done = _done(self._kind.state)
        return done.returncode == 0 and self._kind.said in done.stdout

    def note_sync(self) -> None:
        """Note that a sync of the index has ended just now."""
        mark = self._mark()
        # Nothing depends on it but what idx doctor says.
        with suppress(OSError):
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()

    def seconds_since_sync(self) -> float | None:
        """Return the time since the last sync by a watch; None if there was none."""
        try:
            return time.time() - self._mark().stat().st_mtime
        except OSError:
            return None

    def _mark(self) -> Path:
        return user_state_path("mcp-lucene", appauthor=False) / self.name

    def _check_program(self) -> None:
        if not find_program(self._kind.program):
            raise ServiceError(
                f"{self._kind.program} is not there, so that nothing can start idx watch at each "
                "login; run it by whatever starts programs here, or by hand"
            )


def _kind_of(name: str, system: str) -> _Kind:
    if system == "win32":
        file = user_data_path("mcp-lucene", appauthor=False) / f"{name}.xml"
        of = ("/TN", name)
        return _Kind(
            "schtasks",
            file,
            _task,
            (("schtasks", "/End", *of),),
            (("schtasks", "/Create", *of, "/XML", str(file), "/F"), ("schtasks", "/Run", *of)),
            (("schtasks", "/Delete", *of, "/F"),),
            ("schtasks", "/Query", *of),
        )
    if system == "darwin":
        file = Path.home() / "Library" / "LaunchAgents" / f"{name}.plist"
        # Windows has no such function.
        session = f"gui/{getattr(os, 'getuid', int)()}"
        return _Kind(
            "launchctl",
            file,
            _agent,
            (("launchctl", "bootout", f"{session}/{name}"),),
            (("launchctl", "bootstrap", session, str(file)),),
            (),
            ("launchctl", "print", f"{session}/{name}"),
            "state = running",
        )
    unit = f"{name}.service"
    control = ("systemctl", "--user")
    return _Kind(
        "systemctl",
        user_config_path("systemd", appauthor=False) / "user" / unit,
        _unit,
        (),
        # Restarted, in case an older one runs.
        ((*control, "daemon-reload"), (*control, "enable", unit), (*control, "restart", unit)),
        ((*control, "disable", "--now", unit),),
        (*control, "--quiet", "is-active", unit),
    )


def variables_of(environment: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return the settings in an environment, and the names of those that are secrets."""
    settings = {
        name: text
        for name, text in environment.items()
        if name.startswith("IDX_") or name in _AROUND
    }
    secrets = sorted(_SECRETS & settings.keys())
    return {name: text for name, text in settings.items() if name not in _SECRETS}, secrets


def _run(command: Command) -> None:
    done = _done(command)
    if done.returncode:
        reason = (done.stderr or done.stdout).strip() or f"exit code {done.returncode}"
        raise ServiceError(f"{joined(command)} failed: {reason}")


def _done(command: Command) -> subprocess.CompletedProcess[str]:
    program = find_program(command[0]) or command[0]
    return subprocess.run(
        [program, *command[1:]],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_TIMEOUT_SECONDS,
        check=False,
    )


def _unit(name: str, command: Command, variables: Mapping[str, str]) -> bytes:
    folder = str(Path.cwd())
    if folder != folder.strip() or "\n" in folder or folder.endswith("\\"):
        raise ServiceError(
            f"systemd cannot start a service in the folder {folder!r}; go to another"
        )
    program, *others = command
    words = " ".join((_quoted(program), *(_quoted(word).replace("$", "$$") for word in others)))
    settings = (f"Environment={_quoted(f'{key}={text}')}" for key, text in variables.items())
    lines = (
        "[Unit]",
        f"Description=Keep the search index equal to its folders ({name})",
        "",
        "[Service]",
        f"ExecStart={words}",
        f"WorkingDirectory={folder.replace('%', '%%')}",
        *settings,
        "Restart=on-failure",
        "RestartSec=30",
        "SuccessExitStatus=143",
        "Nice=10",
        "IOSchedulingClass=idle",
        "",
        "[Install]",
        "WantedBy=default.target",
    )
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")


def _quoted(word: str) -> str:
    """Return a word as units of systemd quote it (systemd.syntax(7))."""
    escaped = word.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return '"' + escaped.replace("%", "%%") + '"'


def _agent(name: str, command: Command, variables: Mapping[str, str]) -> bytes:
    return plistlib.dumps(
        {
            "Label": name,
            "ProgramArguments": [*command],
            "WorkingDirectory": str(Path.cwd()),
            "EnvironmentVariables": dict(variables),
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ProcessType": "Background",
        }
    )


def _task(name: str, command: Command, variables: Mapping[str, str]) -> bytes:
    # A program without a console opens no window; cmd sets what is not set for the user.
    quiet = Path(sysconfig.get_path("scripts")) / "pythonw.exe"
    words = [str(quiet), *command[1:]]
    program, arguments = words[0], subprocess.list2cmdline(words[1:])
    if variables:
        sets = "".join(f'set "{key}={text}" && ' for key, text in variables.items())
        program, arguments = "cmd.exe", f'/d /c "{sets}{subprocess.list2cmdline(words)}"'
    user = os.environ.get("USERNAME", "")
    text = f"""<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo><Description>{escape(name)}</Description></RegistrationInfo>
  <Triggers><LogonTrigger><UserId>{escape(user)}</UserId></LogonTrigger></Triggers>
  <Settings>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Priority>8</Priority>
    <RestartOnFailure><Interval>PT1M</Interval><Count>10</Count></RestartOnFailure>
  </Settings>
  <Actions><Exec>
    <Command>{escape(program)}</Command>
    <Arguments>{escape(arguments)}</Arguments>
    <WorkingDirectory>{escape(str(Path.cwd()))}</WorkingDirectory>
  </Exec></Actions>
</Task>
"""
    return text.encode("utf-16")
