"""HTTP servers on this machine, each in a thread of the test."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from typing import TypeVar

_Server = TypeVar("_Server", bound=ThreadingHTTPServer)


@contextmanager
def listening(server: _Server) -> Iterator[_Server]:
    """Have a server answer while a block runs."""
    with server:
        # It looks that often for whether it shall end.
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
