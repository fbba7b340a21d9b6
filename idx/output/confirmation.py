"""Confirmation of actions that cannot be undone."""

import sys

from shared.errors import McpLuceneError


class ConfirmationMissingError(McpLuceneError):
    """Standard input is not a terminal, and ``--yes`` was not given."""

    def __init__(self, action: str) -> None:
        super().__init__(f"refusing to {action} without a terminal; pass --yes")


def confirm(action: str, *, yes: bool) -> bool:
    """Ask the user to confirm an action.

    Args:
        action: the action, as a verb phrase in lower case.
        yes: whether ``--yes`` was given, which skips the question.

    Returns:
        The answer; an empty answer or the end of the input means no.

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
        # On stderr, because stdout is reserved for the answer of the command.
        return Confirm.ask(question, console=Console(stderr=True), default=False)
    except EOFError:
        return False
