"""Entry point of `idx`, which handles errors and interruptions at any moment.

The command line is imported inside `main`, so that Ctrl-C during start-up has the same effect as
during a run.
"""

import gc
import io
import os
import signal
import sys
import warnings
from typing import Final

from shared.messages import incomplete_installation, reason_of
from shared.semantic import keep_to_one_thread
from shared.system import TERMINATIONS
from shared.system.shell import use_utf8

_OBJECTS_BETWEEN_COLLECTIONS: Final = 20_000
"""Threshold of the garbage collector, in objects.

With Python's default of 700, it would scan the same classes and modules again and again.
"""


class Terminated(KeyboardInterrupt):
    """A signal of `TERMINATIONS` arrived; it ends a run like Ctrl-C, with a separate exit code."""

    # Recorded in the class, because a library may raise a KeyboardInterrupt of its own instead.
    was_raised = False


def main() -> None:
    """Run `idx`; this is the entry point of the distribution.

    Exit codes: 0 done, 1 the work failed, 2 wrong usage, 130 interrupted, 143 terminated.
    """
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    _replace_closed_streams()
    use_utf8()
    keep_to_one_thread()
    _escape_what_stdout_cannot_encode()
    warnings.showwarning = _warn  # type: ignore[assignment] # Python calls it by position
    for number in TERMINATIONS:
        signal.signal(number, _terminate)
    try:
        from shared.errors import McpLuceneError

        try:
            from idx.app import app

            if os.environ.get("_IDX_COMPLETE", "").startswith("complete_"):
                from idx.cli.configured_command import complete

                complete(app)
            try:
                app()
            finally:
                # Java was used if it is there; it must not be loaded for this.
                if startup_cache := sys.modules.get("shared.java.startup_cache"):
                    startup_cache.train_in_background()
        except McpLuceneError as error:
            from idx.errors import message

            _fail(message(error))
        except ImportError as error:
            _fail(incomplete_installation(error))
        finally:
            sys.stdout.flush()
    except (KeyboardInterrupt, SystemExit) as end:
        # Typer converts every interruption to an exit with the code of Ctrl-C.
        if Terminated.was_raised:
            sys.exit(143)
        sys.exit(130 if isinstance(end, KeyboardInterrupt) else end.code)
    except OSError as error:
        # Output that cannot be written now would fail again when the interpreter exits.
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 - open until the end
        _fail(_reason(error))


def _reason(error: OSError) -> str:
    reason = reason_of(error)
    if error.filename:
        return f"{error.filename} could not be used: {reason}"
    if isinstance(error, FileNotFoundError):
        # The module tempfile raises this error.
        return f"{reason}: free some space there, or name another folder in the variable TMPDIR"
    return f"the output could not be written: {reason}"


def _terminate(_signal: int, _frame: object) -> None:
    Terminated.was_raised = True
    raise Terminated


def _warn(text: Warning | str, *_: object) -> None:
    from idx.output.printing import warn

    warn(str(text))


def _fail(message: str) -> None:
    try:
        from idx.output.printing import say
    except ImportError:
        # A library that it needs is what is missing.
        print(f"Error: {message}", file=sys.stderr)
    else:
        say(f"Error: {message}")
    sys.exit(1)


def _replace_closed_streams() -> None:
    """Open the null device for streams that the parent closed, which Python sets to None."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: PTH123, SIM115 - open until the end


def _escape_what_stdout_cannot_encode() -> None:
    """Escape characters that stdout cannot encode, so that they do not end a run."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    main()
