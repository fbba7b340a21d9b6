"""`idx open`: the page of an index in the browser, as long as the command runs."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from tests.conftest import Idx
from tests.programs import PROGRAMS, Started
from tests.server.http.served import SECONDS, wait_for

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sends signals of POSIX")

BROWSER = '#!/bin/sh\necho "$1" >> "$OPENED"\n'


@contextmanager
def opened(index: Path, *arguments: str, **variables: str) -> Iterator[Started]:
    """Run the command, which has printed its address."""
    process = Started(PROGRAMS / "idx", "open", *arguments, "-i", index, env=os.environ | variables)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def address_of(process: Started) -> str:
    return process.stdout.readline().strip()


def is_gone(address: str) -> bool:
    try:
        httpx2.get(address, timeout=SECONDS)
    except httpx2.TransportError:
        return True
    return False


def test_it_opens_the_page_with_the_query_until_ctrl_c(empty_index: Path, tmp_path: Path) -> None:
    browser, log = tmp_path / "browser", tmp_path / "opened"
    browser.write_text(BROWSER)
    browser.chmod(0o755)
    variables = {"BROWSER": f"{browser} %s", "OPENED": str(log)}
    with opened(empty_index, "vacation", "days", **variables) as process:
        address = address_of(process)
        assert address.startswith("http://127.0.0.1:")
        assert address.endswith("/?q=vacation+days")
        wait_for(lambda: log.exists() and log.read_text().strip() == address, "the browser opens")
        page = httpx2.get(address, timeout=SECONDS)
        assert "vacation days" in page.text
        process.send_signal(signal.SIGINT)
        assert process.wait(SECONDS) == 130
        assert process.stderr.read() == "Ctrl-C ends the server.\n"
    assert is_gone(address)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_its_server_ends_however_it_ends(empty_index: Path, number: int, code: int) -> None:
    with opened(empty_index, "--no-browser") as process:
        address = address_of(process)
        assert address.endswith("/")
        assert httpx2.get(address, timeout=SECONDS).status_code == 200
        process.send_signal(number)
        assert process.wait(SECONDS) == code
    wait_for(lambda: is_gone(address), "the server ends")


@pytest.mark.soak
def test_a_port_that_is_taken_is_an_error(empty_index: Path, idx_process: Idx) -> None:
    with opened(empty_index, "--no-browser") as process:
        port = address_of(process).rstrip("/").rpartition(":")[2]
        done = idx_process("open", "--no-browser", "--port", port, "-i", empty_index, code=1)
    assert done.stdout == ""
    assert f"port {port}" in done.stderr


@pytest.mark.soak
def test_without_an_index_it_says_so_and_waits_for_one(tmp_path: Path) -> None:
    with opened(tmp_path / "none", "--no-browser") as process:
        page = httpx2.get(address_of(process), headers={"Accept": "text/html"}, timeout=SECONDS)
        assert page.status_code == 503
        process.terminate()
        assert "there is no index at" in process.stderr.read()
