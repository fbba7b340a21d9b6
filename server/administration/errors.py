"""Errors of administration, in the hierarchy of `shared.errors`."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from server.administration.results import OperationName, State
from shared.errors import McpLuceneError
from shared.messages import decodable


class ScopeMissingError(McpLuceneError):
    """The token of a request lacks the scope ``admin``."""

    def __init__(self, tool: str) -> None:
        super().__init__(
            f"{tool} needs the scope 'admin', which the token of this request does not have; "
            "ask the user for a token that has it"
        )


class DirectoryError(McpLuceneError):
    """The path is not a folder that can be worked on.

    Args:
        path: the path as given.
        reason: what is wrong with it, and what would be right.
    """

    def __init__(self, path: str | Path, reason: str) -> None:
        super().__init__(f"the folder {decodable(str(path))[:200]!r} {reason}")


class OutsideRootsError(DirectoryError):
    """The folder does not lie under one of the server's roots."""

    def __init__(self, path: str | Path, roots: Iterable[Path]) -> None:
        named = ", ".join(decodable(str(root)) for root in roots)
        super().__init__(
            path,
            "does not lie under the roots of this server, with links resolved; the roots are "
            f"{named[:1_000]}: name a folder under one of them, or ask the user to start the "
            "server with another --root",
        )


class RootReplacedError(DirectoryError):
    """The path of a root leads to another folder than at the start of the server."""

    def __init__(self, path: str | Path) -> None:
        super().__init__(
            path,
            "does not lie in the root that this server was started with, because the root was "
            "replaced or moved; ask the user to start the server again",
        )


class FoldersFixedError(McpLuceneError):
    """The remembered folders come from an environment variable and cannot be changed here."""

    def __init__(self, variable: str) -> None:
        super().__init__(
            f"the folders come from the variable {variable} of the server's environment and "
            "cannot be changed here; ask the user to change the variable, or to unset it and use "
            "the configuration file"
        )


class NothingToCrawlError(McpLuceneError):
    """No folder was named, and none is remembered."""

    def __init__(self) -> None:
        super().__init__(
            "there are no folders to crawl: name them in directories, or remember them with "
            "add_directory"
        )


class LinksFollowedError(McpLuceneError):
    """The configuration has idx follow links, which may lead out of the roots."""

    def __init__(self, origin: str) -> None:
        super().__init__(
            f"links in folders are followed (follow_links in {origin}) and might lead out of the "
            "roots of this server; ask the user to run idx sync, or to unset follow_links"
        )


class OperationRunningError(McpLuceneError):
    """Another operation is running or paused; only one may exist."""

    def __init__(self, name: OperationName, operation_id: str, state: State) -> None:
        paused = state == "paused"
        help_ = (
            "resume it with resume_crawl, or end it with stop_crawl" if paused else "wait for it"
        )
        if name == "crawl" and not paused:
            help_ += ", or end it with stop_crawl"
        super().__init__(
            f"the operation {name} ({operation_id}) is {state}, and there is one at a time: {help_}"
        )


class OperationNotFoundError(McpLuceneError):
    """No operation has the id, or none of its kind was started."""

    def __init__(self, operation_id: str, known: Sequence[str]) -> None:
        what = f"has the id {operation_id[:80]!r}" if operation_id else "was started"
        there = f"there are {', '.join(known)}" if known else "start one with start_crawl"
        super().__init__(f"no operation {what} since the server started; {there}")


class OperationStateError(McpLuceneError):
    """The operation's state does not allow it to be paused, resumed or stopped."""

    def __init__(
        self, name: OperationName, operation_id: str, state: State, requested: str
    ) -> None:
        super().__init__(
            f"the operation {name} ({operation_id}) is {state} and cannot be {requested}"
        )


class ServerStoppingError(McpLuceneError):
    """The server is shutting down and starts no operations."""

    def __init__(self) -> None:
        super().__init__("the server is shutting down; start the operation again afterwards")


class ChildError(McpLuceneError):
    """`idx` could not be run or failed."""


class ConfirmationError(McpLuceneError):
    """The client cannot ask its user, or the user did not confirm; nothing was changed."""
