"""Completion in a shell, which starts `idx` whenever the Tab key is pressed.

Typer implements the protocols of the shells. This module adds three guarantees: only completions
are printed, completion has a timeout, and names of documents can neither break a command line nor
be executed as part of one.
"""

import os
import re
import sys
import threading
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from typing import Final

from shared.control_characters import visible_line

VARIABLE: Final = "_IDX_COMPLETE"
"""Name of the variable with the requesting shell, such as ``complete_bash``."""

COMPLETION_TIMEOUT_SECONDS: Final = 5.0
"""Timeout of a completion, in seconds, since the user is waiting."""

_SPECIAL_CHARACTERS: Final = re.compile(r"[^\w@%+=:,./~^-]")
"""Pattern of characters that are special to bash."""

_WORD_BREAKS: Final = re.compile("[=:]+")
"""Pattern of characters that bash treats as separate words."""

_SPECIAL_IN_QUOTES: Final = {"'": frozenset("'"), '"': frozenset('"\\$`!')}

# The scripts of zsh and PowerShell evaluate completions or insert them into the line.
_UNSAFE_VALUES: Final = {
    "bash": re.compile("\t"),
    "fish": re.compile("\t"),
    "zsh": re.compile(r"[\t\"'\\$`]|\s\s|^\s|\s$"),
}
_UNSAFE_IN_OTHER_SHELLS: Final = re.compile(r"[^\w@%+=:,./~^-]")


def is_completing() -> bool:
    """Check whether a shell started the program to complete a command line."""
    return os.environ.get(VARIABLE, "").startswith("complete_")


def is_offered(value: str) -> bool:
    """Check whether a value is safe on a command line of the requesting shell."""
    shell = os.environ.get(VARIABLE, "").removeprefix("complete_")
    # The shell lists completions on the terminal.
    is_shown_as_it_is = visible_line(value) == value
    return is_shown_as_it_is and not _UNSAFE_VALUES.get(shell, _UNSAFE_IN_OTHER_SHELLS).search(
        value
    )


def complete(run: Callable[[], None]) -> None:
    """Complete a command line for the shell.

    Args:
        run: the command line, which prints completions and exits.
    """
    # Java and libraries also write to stderr.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    limit = threading.Timer(COMPLETION_TIMEOUT_SECONDS, os._exit, (1,))
    limit.daemon = True
    limit.start()
    answer = StringIO()
    spell = _bash_word() if os.environ[VARIABLE] == "complete_bash" else str
    try:
        with redirect_stdout(answer):
            run()
    finally:
        limit.cancel()
        lines = answer.getvalue().split("\n")
        words = filter(None, map(spell, lines))
        sys.stdout.write("".join(f"{word}\n" for word in words))


def _bash_word() -> Callable[[str], str]:
    """Rejoin for typer the words that bash splits at ``=`` and ``:``.

    Returns:
        A function that spells a completion as the part of the word that bash replaces.
    """
    words = os.environ.get("COMP_WORDS", "").split("\n")
    position = int(os.environ.get("COMP_CWORD", "0"))
    typed = "".join(words[position : position + 1])
    joined = _joined(words[: position + 1])
    os.environ["COMP_WORDS"] = "\n".join(joined)
    os.environ["COMP_CWORD"] = str(len(joined) - 1)
    head = joined[-1] if _WORD_BREAKS.fullmatch(typed) else joined[-1].removesuffix(typed)
    if head.startswith("-"):
        # Typer completes the value of an option without the name of the option.
        head = head.partition("=")[2]
    if (meant := _SPECIAL_IN_QUOTES.get(typed[:1])) is not None:
        return lambda word: "" if meant & {*word} else word.removeprefix(head)
    return lambda word: _SPECIAL_CHARACTERS.sub(r"\\\g<0>", word.removeprefix(head))


def _joined(words: list[str]) -> list[str]:
    joined: list[str] = []
    is_open = False
    for word in words:
        is_separator = bool(_WORD_BREAKS.fullmatch(word))
        if (is_separator or is_open) and len(joined) > 1:
            joined[-1] += word
        else:
            joined.append(word)
        is_open = is_separator
    return joined
