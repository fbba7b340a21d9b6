"""The entry point of `mcp-lucene`."""

import os
import signal
import sys
import traceback
from contextlib import suppress
from typing import NoReturn


def main() -> None:
    """Run `mcp-lucene`; the entry point of the distribution."""
    # The thread that reads stdin cannot be interrupted, and a server that only reads has no data to
    # save.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from server.relay import can_share, relay

    if can_share(sys.argv[1:]) and (code := relay(sys.argv[1:])) is not None:
        _end(code)
    from shared.errors import McpLuceneError
    from shared.messages import incomplete_installation
    from shared.semantic import keep_to_one_thread
    from shared.system.shell import use_utf8

    use_utf8()
    keep_to_one_thread()
    try:
        # This loads Lucene, which may be missing or of another version.
        from server.app import app

        # Relays start it as a module.
        app(prog_name="mcp-lucene")
    except McpLuceneError as error:
        _end(1, f"Error: {error}")
    except ImportError as error:
        _end(1, f"Error: {incomplete_installation(error)}")
    except Exception:  # noqa: BLE001 - Python's own end can meet threads in Java, and abort
        traceback.print_exc()
        _end(1)
    except SystemExit as end:
        _end(end.code if isinstance(end.code, int) else bool(end.code))


def _end(code: int, message: str = "") -> NoReturn:
    """End the process at once, because Python's own end would wait for threads in Java.

    Nothing is lost: the server only reads, and has closed what it started.
    """
    from shared.messages import visible_line

    # Despite their type, streams that were closed before the process started are None.
    if sys.stderr and message:
        print(visible_line(message), file=sys.stderr)
    if sys.stdout:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
    # Only a server that has begun to serve logs.
    if log := sys.modules.get("server.log"):
        log.drain_stderr()
    os._exit(code)


if __name__ == "__main__":
    main()
