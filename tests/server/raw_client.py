"""A client that speaks the protocol line by line."""

import json
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Final, Self

from tests.programs import PROGRAMS, Piped
from tests.systems import without_wine

_CLIENT: Final = {"name": "raw", "version": "1"}

HANDSHAKE: Final = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": _CLIENT}

MODERN: Final = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": _CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}
"""What each request has in `_meta` since there is no handshake."""


def tool_call(id_: object, tool: str = "Search", **arguments: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params}


class RawClient:
    """Speaks the protocol line by line, so that nothing of an SDK hides what is sent."""

    def __init__(
        self,
        index_path: Path,
        *options: str,
        program: Sequence[str | Path] = (PROGRAMS / "mcp-lucene",),
        before: Callable[[], None] | None = None,
        stdin: int = subprocess.PIPE,
        stderr: int | IO[bytes] = subprocess.PIPE,
    ) -> None:
        self.process = Piped[bytes](
            [*program, index_path, *options],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            preexec_fn=before,
        )
        # Tests send messages with smaller ids of their own.
        self._id = 10_000

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.__exit__(None, None, None)

    def send(self, message: Any) -> None:
        self.send_line(json.dumps(message).encode())

    def send_line(self, line: bytes) -> None:
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def request(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._id += 1
        self.send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": parameters})
        while True:
            message = self.receive()
            if message.get("id") == self._id:
                return message

    def exchange(self, lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
        """Send lines, and a ping after them; what is received until the ping is answered."""
        self._id += 1
        ping = {"jsonrpc": "2.0", "id": f"ping-{self._id}", "method": "ping"}
        sent = b"\n".join([*lines, json.dumps(ping).encode()])
        # Who only writes and then only reads waits for ever for a server that does so, too.
        writer = threading.Thread(target=self.send_line, args=[sent])
        writer.start()
        while (message := self.receive()).get("id") != ping["id"]:
            yield message
        writer.join()
        assert message["result"] == {}

    def receive(self) -> dict[str, Any]:
        return strictly_parsed(self.receive_line())

    def receive_line(self) -> bytes:
        return self.process.stdout.readline()

    def initialize(self, version: str = "2025-06-18") -> dict[str, Any]:
        answer = self.request("initialize", **HANDSHAKE | {"protocolVersion": version})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = self.request("tools/call", name=tool, arguments=arguments)
        result: dict[str, Any] = answer["result"]
        return result

    def search(self, query: str) -> dict[str, Any]:
        return self.call("Search", query=query)

    def end(self) -> tuple[bytes, bytes]:
        """Close stdin; what the process writes until its end to stdout and stderr."""
        out, err = self.process.communicate(timeout=60)
        # There is none if it goes elsewhere.
        told = without_wine((err or b"").decode("utf-8", "surrogateescape"))
        return out, told.encode("utf-8", "surrogateescape")


def strictly_parsed(line: bytes) -> dict[str, Any]:
    """A message of JSON-RPC, which is nothing but that, in valid UTF-8 and JSON."""
    message = json.loads(line.decode(), parse_constant=_refused)
    assert isinstance(message, dict), line
    # Half of a pair is no character, even where JSON can spell it.
    json.dumps(message, ensure_ascii=False).encode()
    assert message["jsonrpc"] == "2.0"
    return message


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")
