"""The real server that is reached by HTTP, in this process or one of its own, and its requests."""

import asyncio
import json
import os
import re
import resource
import socket
import ssl
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
import pytest
import typer
import uvicorn
from mcp import Client
from mcp.client.session import ElicitationFnT, MessageHandlerFnT
from mcp.client.streamable_http import streamable_http_client
from mcp.server import MCPServer
from mcp.types import CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY

from server.app import app
from server.http.run import GracefulServer, http_server
from shared.errors import McpLuceneError
from tests import waiting
from tests.programs import PROCESSES, PROGRAMS, Piped

SECONDS = waiting.SECONDS

VERSION = "2026-07-28"

ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@dataclass(frozen=True)
class Served:
    """A server that runs."""

    url: str
    log: Path | None = None
    own_process: Piped[bytes] | None = None

    @property
    def process(self) -> Piped[bytes]:
        assert self.own_process is not None
        return self.own_process

    @property
    def base(self) -> str:
        return self.url.removesuffix("/mcp")

    @property
    def port(self) -> int:
        return int(self.base.rpartition(":")[2])

    def get(self, path: str, **headers: str) -> httpx2.Response:
        return httpx2.get(f"{self.base}{path}", headers=headers, timeout=SECONDS)

    def call(
        self, tool: str = "Search", headers: dict[str, str] | None = None, **arguments: Any
    ) -> httpx2.Response:
        """Call a tool as a client of 2026-07-28 does, in one request."""
        body, needed = message(tool, **arguments)
        return httpx2.post(
            self.url, content=body, headers=needed | (headers or {}), timeout=SECONDS
        )

    def metrics(self, **headers: str) -> dict[str, float]:
        """What `/metrics` tells, by name and labels."""
        page = self.get("/metrics", **headers)
        assert page.status_code == 200, page.text
        lines = [line for line in page.text.splitlines() if not line.startswith("#")]
        return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}

    def wait_for_calls(self, count: int, **headers: str) -> None:
        """Wait until so many requests run."""
        wait_for(
            lambda: self.metrics(**headers)["mcp_lucene_running_requests"] == count,
            f"{count} requests run",
        )

    def connection(self) -> closing[HTTPConnection]:
        return closing(HTTPConnection("127.0.0.1", self.port, timeout=SECONDS))

    def raw(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS)

    def logged(self) -> str:
        assert self.log is not None
        return self.log.read_text()


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@asynccontextmanager
async def client_of(
    server: Served,
    token: str,
    mode: str = "auto",
    *,
    handler: MessageHandlerFnT | None = None,
    asked: ElicitationFnT | None = None,
    trust: ssl.SSLContext | bool = True,
) -> AsyncIterator[Client]:
    """Connect the SDK's client with a token."""
    async with (
        httpx2.AsyncClient(headers=bearer(token), timeout=SECONDS, verify=trust) as sender,
        Client(
            streamable_http_client(server.url, http_client=sender),
            mode=mode,
            message_handler=handler,
            elicitation_callback=asked,
        ) as client,
    ):
        yield client


@asynccontextmanager
async def serving(server: MCPServer[Any]) -> AsyncIterator[Served]:
    """Serve by the SDK alone, in this thread."""
    app = server.streamable_http_app()
    web = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, lifespan="on"))
    task = asyncio.create_task(web.serve())
    while not web.started:
        assert not task.done()
        await asyncio.sleep(0.01)
    port = web.servers[0].sockets[0].getsockname()[1]
    try:
        yield Served(f"http://127.0.0.1:{port}/mcp")
    finally:
        web.should_exit = web.force_exit = True
        await task


def message(tool: str = "Search", **arguments: Any) -> tuple[bytes, dict[str, str]]:
    """The body and the headers of a call of a tool in 2026-07-28."""
    meta = {
        PROTOCOL_VERSION_META_KEY: VERSION,
        CLIENT_CAPABILITIES_META_KEY: {},
        CLIENT_INFO_META_KEY: {"name": "raw-client", "version": "1"},
    }
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    routing = {"MCP-Protocol-Version": VERSION, "Mcp-Method": "tools/call", "Mcp-Name": tool}
    return json.dumps(body).encode(), ACCEPT | routing


def initialize(server: Served, version: str = "2025-11-25", **headers: str) -> httpx2.Response:
    """Open a session as clients before 2026-07-28 do."""
    params = {
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "old-client", "version": "1"},
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    return httpx2.post(server.url, json=body, headers=ACCEPT | headers, timeout=SECONDS)


def begin_call(connection: HTTPConnection, **token: str) -> bytes:
    """Send a call of a tool but for its last byte, which is returned: it runs until that comes."""
    body, headers = message(query="text")
    connection.putrequest("POST", "/mcp")
    for name, value in {**headers, **token, "Content-Length": str(len(body))}.items():
        connection.putheader(name, value)
    connection.endheaders()
    connection.send(body[:-1])
    return body[-1:]


def status_of_answer(connection: HTTPConnection) -> int:
    """Wait for the answer to the last request, and read it."""
    with connection.getresponse() as response:
        response.read()
        return response.status


def wait_for(condition: Any, what: str) -> None:
    waiting.wait_for(condition, what, every=0.05)


SERVER = (PROGRAMS / "mcp-lucene",)


@contextmanager
def served(
    index: Path,
    *options: object,
    log: Path | None = None,
    tokens: str = "",
    limit: tuple[int, tuple[int, int]] | None = None,
    environment: dict[str, str] | None = None,
    program: tuple[str | Path, ...] = SERVER,
) -> Iterator[Served]:
    """Start the server as a process on a free port, and end it by SIGTERM, in order."""
    with (
        TemporaryDirectory() as folder,
        (log := log or Path(folder) / "log").open("wb") as stderr,
        Piped[bytes](
            [*program, index, "--http", "--port", "0", *map(str, options)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=os.environ | {"IDX_TOKENS": tokens} | (environment or {}),
            preexec_fn=limit and (lambda: resource.setrlimit(*limit)),
        ) as process,
    ):
        try:
            yield Served(_url(process, log), log, process)
            process.terminate()
            assert process.wait(timeout=SECONDS) == 0, log.read_text()
            assert process.stdout.read() == b""
        finally:
            process.kill()


@contextmanager
def served_here(
    index: Path, *options: object, tokens: str = "", environment: dict[str, str] | None = None
) -> Iterator[Served]:
    """Start the server like `served`, in a thread of this process, without a log."""
    if PROCESSES in os.environ:
        with served(index, *options, tokens=tokens, environment=environment) as running:
            yield running
        return
    made: list[tuple[GracefulServer, socket.socket]] = []

    def make(*arguments: Any) -> None:
        made.append((http_server(*arguments), arguments[-1]))

    with pytest.MonkeyPatch.context() as variables:
        for name, value in ({"IDX_TOKENS": tokens} | (environment or {})).items():
            variables.setenv(name, value)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("server.http.run.run", make)
            arguments = [str(index), "--http", "--port", "0", *map(str, options)]
            typer.main.get_command(app)(arguments, standalone_mode=False)
        ((server, listener),) = made
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            wait_for(lambda: server.started or not thread.is_alive(), "the server does not start")
            scheme = "https" if server.config.is_ssl else "http"
            host, port = listener.getsockname()[:2]
            yield Served(f"{scheme}://{host}:{port}/mcp")
        finally:
            server.should_exit = True
            thread.join(SECONDS)
            assert not thread.is_alive()


def _url(process: Piped[bytes], log: Path) -> str:
    pattern = re.compile(r"^Listening on (\S+)$|\"url\": \"([^\"]+)\"", re.MULTILINE)
    wait_for(lambda: process.poll() is not None or pattern.search(log.read_text()), log.read_text())
    found = pattern.search(log.read_text())
    assert found, log.read_text()
    return found[1] or found[2]


def refused(*options: object, index: Path, tokens: str = "") -> str:
    """What the server says when it does not start."""
    with pytest.MonkeyPatch.context() as variables:
        variables.setenv("IDX_TOKENS", tokens)
        with pytest.raises(McpLuceneError) as refusal:
            typer.main.get_command(app)([str(index), *map(str, options)], standalone_mode=False)
    return f"Error: {refusal.value}\n"
