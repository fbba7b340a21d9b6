"""Words of command lines, written so that the user's shell reads them back."""

import re
import shlex
import sys
from collections.abc import Iterable
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
