"""Errors that say what to do next, to users of the command line and to clients of the server."""

import os
from typing import Final

FOR_CLIENT_VARIABLE: Final = "MCP_LUCENE_FOR_CLIENT"
"""Set for `idx` by a server that runs it, whose client reads the messages."""


class AdvisedError(Exception):
    """An error whose message ends with what to do next.

    The text of the error is for the command line, where that names commands of `idx` and their
    options. A client of the server can only call tools and talk to its user.

    Args:
        problem: what happened, and to what; with what to do next if that is the same for both.
        remedy: what to do next on the command line.
        client_remedy: what a client of the server does next; None for asking its user to do what
            `remedy` says.

    Attributes:
        for_client: the message for a client of the server.
    """

    def __init__(self, problem: str, remedy: str = "", client_remedy: str | None = None) -> None:
        super().__init__(_sentence(problem, remedy))
        if remedy and client_remedy is None:
            client_remedy = f"ask the user to {remedy}"
        self.for_client = _sentence(problem, client_remedy or "")


def message_for_reader(error: AdvisedError) -> str:
    """The message of an error for whoever reads the output of this process."""
    return error.for_client if os.environ.get(FOR_CLIENT_VARIABLE) else str(error)


def _sentence(problem: str, remedy: str) -> str:
    return f"{problem}; {remedy}" if remedy else problem
