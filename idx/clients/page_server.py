"""The server of the search page, as a child process that ends with this one."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from idx.clients.errors import PageServerError
from idx.clients.launch import PROGRAM, installed_program
from shared.backends import location

_ANNOUNCEMENT: Final = "Listening on "
_MCP_PATH: Final = "mcp"

_STOP_SECONDS: Final = 15.0
"""Maximum time for the server to end in order before it is killed, in seconds."""


class PageServer:
    """A server that runs.

    Args:
        process: the process.
        address: the address of its page, with a slash at the end.
    """

    def __init__(self, process: "subprocess.Popen[str]", address: str) -> None:
        self._process = process
        self.address = address

    @property
    def messages(self) -> Iterator[str]:
        """The messages of the server, until it ends."""
        assert self._process.stderr is not None  # noqa: S101 - it is a pipe
        for line in self._process.stderr:
            yield line.rstrip("\n")

    def refuse_end(self) -> None:
        """Raise an error, since the server ended by itself.

        Raises:
            PageServerError: always.
        """
        raise PageServerError(f"{PROGRAM} ended with the exit code {self._process.wait()}")


@contextmanager
def running(index_path: Path, port: int) -> Iterator[PageServer]:
    """Run a server on this machine for the duration of a block.

    Args:
        index_path: the index folder, which need not exist yet.
        port: the port to listen on; 0 for a free one.

    Raises:
        ProgramMissingError: the program is not installed beside this one.
        PageServerError: it does not start.
    """
    program, index = str(installed_program()), str(location(index_path))
    process = subprocess.Popen(
        [
            *(program, index, "--http", "--port", str(port)),
            *("--log-level", "error", "--until-stdin-ends"),
        ],
        # The system closes this pipe however this process ends, and then the server ends, too.
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
    )
    try:
        yield PageServer(process, _address(process))
    finally:
        assert process.stdin is not None  # noqa: S101 - it is a pipe
        process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_STOP_SECONDS)
        process.kill()
        process.wait()


def _address(process: "subprocess.Popen[str]") -> str:
    """Wait until the server listens, and return the address of its page.

    Raises:
        PageServerError: it ended before.
    """
    assert process.stderr is not None  # noqa: S101 - it is a pipe
    last = f"{PROGRAM} ended without a message"
    for line in process.stderr:
        if line.startswith(_ANNOUNCEMENT):
            return line.removeprefix(_ANNOUNCEMENT).strip().removesuffix(_MCP_PATH)
        last = line.strip().removeprefix("Error: ") or last
    raise PageServerError(last)
