"""The entry point of `mcp-lucene`."""

import os
import signal
import sys
from typing import NoReturn


def main() -> None:
    """Run `mcp-lucene`; the entry point of the distribution."""
    # The thread that reads stdin cannot be interrupted, and a server that only reads has no data to
    # save.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from server.pipes.stderr_queue import queue_stderr
    from shared.errors import McpLuceneError
    from shared.messages import incomplete_installation
    from shared.system.streams import use_utf8

    use_utf8()
    queue_stderr()
    try:
        # This loads Lucene, which may be missing or of another version.
        from server.app import app

        app()
    except McpLuceneError as error:
        _fail(str(error))
    except ImportError as error:
        _fail(incomplete_installation(error))


def _fail(message: str) -> NoReturn:
    from server.pipes.stderr_queue import drain_stderr
    from shared.control_characters import visible_line

    # Despite its type, a stream that was closed before the process started is None.
    if sys.stderr:
        print(f"Error: {visible_line(message)}", file=sys.stderr)
    drain_stderr()
    # Java may be starting in a daemon thread, which Python's own end aborts with a signal.
    os._exit(1)


if __name__ == "__main__":
    main()
