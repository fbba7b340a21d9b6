"""Asking before something is done that cannot be taken back."""

import sys

from shared.errors import McpLuceneError


class ConfirmationMissingError(McpLuceneError):
    """There is no terminal to ask on, and ``--yes`` was not given."""

    def __init__(self, action: str) -> None:
        super().__init__(f"refusing to {action} without a terminal; pass --yes")


def confirm(action: str, *, yes: bool) -> bool:
    """Whether something is to be done.

    Args:
        action: what it is, as it stands after the word to.
        yes: whether ``--yes`` was given, which answers it.

    Returns:
        The answer; no is what an empty one means, or the end of the input.

    Raises:
        ConfirmationMissingError: standard input is not a terminal.
    """
    if yes:
        return True
    if not sys.stdin.isatty():
        raise ConfirmationMissingError(action)
    from rich.console import Console
    from rich.prompt import Confirm
    from rich.text import Text

    from shared.control_characters import visible_line

    try:
        question = Text(visible_line(f"{action[0].upper()}{action[1:]}?"))
        # On stderr: stdout has the answer of the command only.
        return Confirm.ask(question, console=Console(stderr=True), default=False)
    except EOFError:
        return False
