"""The shell around a program: words of its command line, programs it finds, standard streams."""

import io
import os
import re
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_PLAIN_ON_WINDOWS: Final = re.compile(r"[\w@%+=:,./\\~-]+", re.ASCII)
"""Words that neither cmd nor PowerShell takes for anything else."""


def quoted(word: str) -> str:
    """Return a word as the shell of this system takes it."""
    return quoted_for_windows(word) if sys.platform == "win32" else shlex.quote(word)


def joined(words: Iterable[str]) -> str:
    """Return words as a command line for the shell of this system."""
    return " ".join(map(quoted, words))


def quoted_for_windows(word: str) -> str:
    r"""Return a word in quotes of both cmd and PowerShell if it needs any.

    A quote becomes two, and backslashes before a closing quote are doubled, as programs expect
    them (CommandLineToArgvW). PowerShell still replaces ``$name`` in the word.
    """
    if _PLAIN_ON_WINDOWS.fullmatch(word):
        return word
    escaped = re.sub(r'(\\*)"', r'\1\1""', word)
    return '"' + re.sub(r"(\\+)$", r"\1\1", escaped) + '"'


def find_program(*names: str) -> str | None:
    """Return the absolute path of the first of some programs that is installed; None if none is.

    Relative folders of the search path are left out, so that nothing in the current folder is run.
    """
    import shutil

    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    path = os.pathsep.join(folder for folder in folders if Path(folder).is_absolute())
    # On Windows, which looks into the current folder first.
    found = (shutil.which(name, path=path) for name in names if path)
    return next((each for each in found if each and Path(each).is_absolute()), None)


def use_utf8() -> None:
    """Have Windows exchange text as UTF-8 with whatever is not a console.

    Python would use the code page of the machine, which has a few hundred characters, and which no
    client expects. Elsewhere the locale decides.
    """
    if sys.platform == "win32":
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper) and not stream.isatty():
                stream.reconfigure(encoding="utf-8", errors=stream.errors)
