"""A server in the middle of a crawl, as a process that can be sent signals."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.programs import Piped
from tests.server.raw_client import RawClient
from tests.waiting import wait_for


@contextmanager
def crawling(index: Path, folder: Path) -> Iterator[tuple[Piped[bytes], int]]:
    """Start a server and a crawl; yields the server and the process that crawls."""
    with RawClient(index, "--admin", "--root", str(folder)) as client:
        try:
            client.initialize()
            client.call("start_crawl", directories=[str(folder)])
            yield client.process, _process_that_adds(client)
        finally:
            client.process.kill()


def _process_that_adds(client: RawClient) -> int:
    def added() -> int:
        status = client.call("crawl_status")["structuredContent"]
        return int(status["progress"]["added"])

    wait_for(added, every=0.05)
    locked_by = client.call("admin_status")["structuredContent"]["locked_by"]
    found = re.match(r"process (\d+) ", locked_by or "")
    assert found, locked_by
    return int(found[1])
