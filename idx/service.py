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
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

from platformdirs import user_config_path, user_data_path, user_state_path

from shared.errors import McpLuceneError
from shared.settings.defaults import (
    KEY_VARIABLES,
    OPENSEARCH_PASSWORD_VARIABLE,
    OPENSEARCH_TOKEN_VARIABLE,
    TOKENS_VARIABLE,
    VARIABLES,
)
from shared.system.shell import find_program, joined

_SECRETS: Final = frozenset(
    (
        *KEY_VARIABLES.values(),
        *(OPENSEARCH_PASSWORD_VARIABLE, OPENSEARCH_TOKEN_VARIABLE, TOKENS_VARIABLE),
        VARIABLES["pdf_password"],
    )
)
"""Variables that are written into no file."""

_TIMEOUT_SECONDS: Final = 60.0

Command = Sequence[str]


class ServiceError(McpLuceneError):
    """The system did not do what was asked of its services."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a system has for services.

    Attributes:
        program: the program that controls them.
        file: the file of a service.
        start: the commands that start a service, now and at each login.
        stop: those that end it, before its file is deleted.
        state: the command that succeeds if it runs.
    """

    program: str
    file: Path
    start: Sequence[Command]
    stop: Sequence[Command]
    state: Command


@dataclass(frozen=True, slots=True)
class Service:
    """The service of an index."""

    index_path: Path
    system: str = sys.platform

    @property
    def name(self) -> str:
        """The name in the lists of the system, which tells the index."""
        words = re.sub(r"\W+", "-", self.index_path.name, flags=re.ASCII).strip("-") or "index"
        digest = hashlib.sha256(os.fsencode(self.index_path)).hexdigest()[:8]
        return f"idx-watch-{words[:40]}-{digest}"

    @property
    def file(self) -> Path:
        """The file that describes it."""
        return self._kind().file

    def install(self, arguments: Sequence[str], variables: Mapping[str, str]) -> None:
        """Start ``idx`` with arguments now and at each login, in the current folder.

        Raises:
            ServiceError: the system has no such services, or refuses.
        """
        kind = self._kind()
        command = [sys.executable, "-P", "-m", "idx", *arguments]
        kind.file.parent.mkdir(parents=True, exist_ok=True)
        kind.file.write_bytes(_WRITERS[self.system](self.name, command, variables))
        for step in kind.start:
            self._run(step)

    def uninstall(self) -> bool:
        """End it, also at the next login; False if there is none.

        Raises:
            ServiceError: the system refuses.
        """
        kind = self._kind()
        if not kind.file.exists():
            return False
        for step in kind.stop:
            self._run(step)
        kind.file.unlink(missing_ok=True)
        return True

    def runs(self) -> bool:
        """Check whether it runs now."""
        kind = self._kind()
        if not find_program(kind.program):
            return False
        return _done(kind.state).returncode == 0

    def note_sync(self) -> None:
        """Note that the index was equal to its folders just now."""
        mark = self._mark()
        # Nothing depends on it but what idx doctor says.
        with suppress(OSError):
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()

    def seconds_since_sync(self) -> float | None:
        """Return the time since the index was equal to its folders; None if it never was."""
        try:
            return time.time() - self._mark().stat().st_mtime
        except OSError:
            return None

    def _mark(self) -> Path:
        return user_state_path("mcp-lucene", appauthor=False) / self.name

    def _run(self, command: Command) -> None:
        if not find_program(command[0]):
            raise ServiceError(
                f"{command[0]} is not there, so that nothing can start idx watch at each login; "
                "run it by whatever starts programs here, or by hand"
            )
        done = _done(command)
        if done.returncode:
            reason = (done.stderr or done.stdout).strip() or f"exit code {done.returncode}"
            raise ServiceError(f"{joined(command)} failed: {reason}")

    def _kind(self) -> _Kind:
        name = self.name
        if self.system == "win32":
            file = user_data_path("mcp-lucene", appauthor=False) / f"{name}.xml"
            of = ("/TN", name)
            return _Kind(
                "schtasks",
                file,
                (("schtasks", "/Create", *of, "/XML", str(file), "/F"), ("schtasks", "/Run", *of)),
                (("schtasks", "/End", *of), ("schtasks", "/Delete", *of, "/F")),
                ("schtasks", "/Query", *of),
            )
        if self.system == "darwin":
            file = Path.home() / "Library" / "LaunchAgents" / f"{name}.plist"
            session = f"gui/{os.getuid()}"
            return _Kind(
                "launchctl",
                file,
                (("launchctl", "bootstrap", session, str(file)),),
                (("launchctl", "bootout", f"{session}/{name}"),),
                ("launchctl", "print", f"{session}/{name}"),
            )
        unit = f"{name}.service"
        control = ("systemctl", "--user")
        return _Kind(
            "systemctl",
            user_config_path("systemd", appauthor=False) / "user" / unit,
            # Restarted, in case an older one runs.
            (
                (*control, "daemon-reload"),
                (*control, "enable", unit),
                (*control, "restart", unit),
            ),
            ((*control, "disable", "--now", unit),),
            (*control, "--quiet", "is-active", unit),
        )


def variables_of(environment: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return the settings in an environment, and the names of those that are secrets."""
    settings = {name: text for name, text in environment.items() if name.startswith("IDX_")}
    secrets = sorted(_SECRETS & settings.keys())
    return {name: text for name, text in settings.items() if name not in _SECRETS}, secrets


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
    words = " ".join(_quoted(word).replace("$", "$$") for word in command)
    settings = (f"Environment={_quoted(f'{key}={text}')}" for key, text in variables.items())
    lines = (
        "[Unit]",
        f"Description=Keep the search index equal to its folders ({name})",
        "",
        "[Service]",
        f"ExecStart={words}",
        # Like ExecStart, but a path that may hold anything but a line break.
        f"WorkingDirectory={str(Path.cwd()).replace('%', '%%')}",
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


_WRITERS: Final = {"win32": _task, "darwin": _agent, "linux": _unit}
"""Functions that write the file of a service, by system."""
