"""The entry point of `mcp-lucene`."""

import signal
import sys


def main() -> None:
    """Run `mcp-lucene`; the entry point of the distribution."""
    # The thread that reads stdin cannot be interrupted, and a server that only reads has no data to
    # save.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from server.app import app
    from server.pipes.stderr_queue import queue_stderr
    from shared.control_characters import visible_line
    from shared.errors import McpLuceneError

    queue_stderr()
    try:
        app()
    except McpLuceneError as error:
        sys.exit(f"Error: {visible_line(str(error))}")


if __name__ == "__main__":
    main()
