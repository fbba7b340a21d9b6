"""Runs `idx`: what becomes of an error, and of an interruption at any moment.

The command line is imported inside, so that Ctrl-C ends a start in the same way as a run.
"""

import gc
import io
import os
import signal
import sys
from typing import Final

from shared.messages import reason_of

_OBJECTS_BETWEEN_COLLECTIONS: Final = 20_000
"""Python's own 700 would have it look through the same classes and modules again and again."""


class Terminated(KeyboardInterrupt):
    """SIGTERM arrived; it ends a run as Ctrl-C does, with an exit code of its own."""

    # A library in between may raise a KeyboardInterrupt of its own instead.
    was_raised = False


def main() -> None:
    """Run `idx`; the entry point of the distribution.

    Exit codes: 0 done, 1 the work failed, 2 wrong usage, 130 interrupted, 143 terminated.
    """
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    _replace_closed_streams()
    _escape_what_stdout_cannot_encode()
    signal.signal(signal.SIGTERM, _terminate)
    try:
        from shared.errors import McpLuceneError, message_for_reader

        try:
            from idx.app import app
            from idx.cli.shell_completion import complete, is_completing

            if is_completing():
                complete(app)
            app()
        except McpLuceneError as error:
            _fail(message_for_reader(error))
        finally:
            sys.stdout.flush()
    except (KeyboardInterrupt, SystemExit) as end:
        # Typer makes an exit of every interruption, with the code of Ctrl-C.
        if Terminated.was_raised:
            sys.exit(143)
        sys.exit(130 if isinstance(end, KeyboardInterrupt) else end.code)
    except OSError as error:
        # What cannot be written now cannot be written at the interpreter's end either.
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 - open until the end
        _fail(_reason(error))


def _reason(error: OSError) -> str:
    reason = reason_of(error)
    if error.filename:
        return f"{error.filename} could not be used: {reason}"
    if isinstance(error, FileNotFoundError):
        # What the module tempfile raises.
        return f"{reason}: free some space there, or name another folder in the variable TMPDIR"
    return f"the answer could not be written: {reason}"


def _terminate(_signal: int, _frame: object) -> None:
    Terminated.was_raised = True
    raise Terminated


def _fail(message: str) -> None:
    from idx.output.printing import say

    say(f"Error: {message}")
    sys.exit(1)


def _replace_closed_streams() -> None:
    """Python has no stream at all where its parent closed one; writing to it would fail."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: PTH123, SIM115 - open until the end


def _escape_what_stdout_cannot_encode() -> None:
    """A character that the encoding of stdout does not have must not end a run."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    main()
