"""Standard streams of a program."""

import io
import sys


def use_utf8() -> None:
    """Have Windows exchange text as UTF-8 with whatever is not a console.

    Python would use the code page of the machine, which has a few hundred characters, and which no
    client expects. Elsewhere the locale decides.
    """
    if sys.platform == "win32":
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper) and not stream.isatty():
                stream.reconfigure(encoding="utf-8", errors=stream.errors)
