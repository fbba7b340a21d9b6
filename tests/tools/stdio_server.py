"""A server by stdio, asked line by line, so that no client's own work is measured."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from shared.settings.defaults import SHARE_VARIABLE
from tests.programs import Piped

Command = Sequence[str | Path]

_CLIENT: Final = {"name": "benchmark", "version": "1"}


class StdioServer:
    """A server that runs."""

    def __init__(self, process: Piped[bytes]) -> None:
        self.process = process
        self._number = 0

    def ask(self, method: str, **parameters: object) -> dict[str, Any]:
        number = self.send(method, **parameters)
        while (answer := self.receive()).get("id") != number:
            pass
        if "result" not in answer:
            raise RuntimeError(answer)
        result: dict[str, Any] = answer["result"]
        return result

    def send(self, method: str, **parameters: object) -> int:
        """Send a request without waiting for its answer, which will have this id."""
        self._number += 1
        self._send(method, id=self._number, params=parameters)
        return self._number

    def receive(self) -> dict[str, Any]:
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the server has ended")
        message: dict[str, Any] = json.loads(line)
        return message

    def search(self, query: str, **arguments: object) -> dict[str, Any]:
        found = self.ask("tools/call", name="Search", arguments={"query": query, **arguments})
        if "structuredContent" not in found:
            raise RuntimeError(found)
        answer: dict[str, Any] = found["structuredContent"]
        return answer

    def initialize(self) -> None:
        self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=_CLIENT)
        self._send("notifications/initialized")

    def memory(self) -> float:
        """Resident memory of the process, in units of 10⁶ bytes; Linux only."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) * 1024 / 1e6

    def _send(self, method: str, **members: object) -> None:
        message = json.dumps({"jsonrpc": "2.0", "method": method, **members})
        self.process.stdin.write(message.encode() + b"\n")
        self.process.stdin.flush()


@contextmanager
def stdio_server(
    command: Command,
    variables: Mapping[str, str] | None = None,
    *,
    share: bool = False,
    stderr: int | None = None,
) -> Iterator[StdioServer]:
    """Run a server, or its relay, within a block; its session has not begun yet."""
    environment = os.environ | dict(variables or {}) | {SHARE_VARIABLE: "on" if share else "off"}
    with Piped[bytes](
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, env=environment
    ) as process:
        yield StdioServer(process)
