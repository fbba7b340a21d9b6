"""A server with administration on an index, and what is done with it over and over."""

import os
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from mcp.client.session import ElicitationFnT

from tests.conftest import connected
from tests.server.tool_answers import told
from tests.waiting import wait_for

SECONDS = 60  # how long anything may take before a test fails; the machine may be busy


@asynccontextmanager
async def administered(
    index: Path,
    root: Path,
    *options: str,
    mode: str = "auto",
    asked: ElicitationFnT | None = None,
    variables: dict[str, str] | None = None,
) -> AsyncIterator[Client]:
    """Connect to a server that may crawl folders under a root."""
    environment = {"IDX_WORKERS": "1"} | (variables or {})
    options = ("--admin", "--root", str(root), *options)
    async with connected(
        index, *options, mode=mode, handler=None, asked=asked, **environment
    ) as client:
        yield client


async def until(
    client: Client, condition: Callable[[dict[str, Any]], bool], operation_id: str = ""
) -> dict[str, Any]:
    """Ask how far a crawl is until a condition holds."""
    with anyio.fail_after(SECONDS):
        while True:
            status = await told(client, "crawl_status", operation_id=operation_id)
            if condition(status):
                return status
            assert status["state"] != "failed", status
            await anyio.sleep(0.1)


async def ended(client: Client, operation_id: str = "") -> dict[str, Any]:
    return await until(client, lambda status: status["ended"] is not None, operation_id)


async def failed(client: Client) -> dict[str, Any]:
    """Wait until the latest crawl has ended, which must have failed."""
    with anyio.fail_after(SECONDS):
        while (status := await told(client, "crawl_status"))["ended"] is None:
            await anyio.sleep(0.05)
    assert status["state"] == "failed"
    return status


async def writer(client: Client) -> int:
    """The process that writes to the index, once there is one."""
    with anyio.fail_after(SECONDS):
        while True:
            locked_by = (await told(client, "admin_status"))["locked_by"]
            if locked_by:
                found = re.match(r"process (\d+) \(.* -m idx sync ", locked_by)
                assert found, locked_by
                return int(found[1])
            await anyio.sleep(0.05)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until_gone(process: int) -> None:
    wait_for(lambda: not is_alive(process))
