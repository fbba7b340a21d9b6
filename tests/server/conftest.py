"""A client of a server on an index that no test of a module changes: its fixture `index`."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from mcp import Client

from tests.conftest import connected


@pytest.fixture(scope="module")
async def client(index: Path) -> AsyncIterator[Client]:
    async with connected(index) as client:
        yield client
