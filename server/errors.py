"""What can go wrong with requests that only the server knows.

They are of the family of `shared.errors`, where everything else is.
"""

from collections.abc import Sequence

from shared.errors import McpLuceneError
from shared.messages import quantity


class ResourceNotFoundError(McpLuceneError):
    """A URI names nothing that the server has.

    Args:
        uri: the URI.
        reason: what is wrong with it, and what would be right.
    """

    def __init__(self, uri: str, reason: str) -> None:
        super().__init__(f"there is no resource {uri[:200]!r}: {reason}")


class LanguageNotFoundError(McpLuceneError):
    """No document of the index is in a language.

    Args:
        language: its code.
        known: the codes of the languages that there are.
    """

    def __init__(self, language: str, known: Sequence[str]) -> None:
        there = f"the languages are {', '.join(known[:50])}" if known else "no language is known"
        super().__init__(f"no document is in the language {language[:80]!r}; {there}")


class CursorError(McpLuceneError):
    """A list was asked for from a place that no page of it ended with."""

    def __init__(self, cursor: str) -> None:
        super().__init__(
            f"{cursor[:80]!r} is not a cursor of this list; ask for the first page without one"
        )


class TooManySubscriptionsError(McpLuceneError):
    """A client wants to hear of more resources than it may.

    Args:
        most: how many may be subscribed to.
        whose: by whom.
    """

    def __init__(self, most: int, whose: str = "a client") -> None:
        super().__init__(
            f"{whose} can subscribe to {quantity(most, 'resource')}; subscribe to fewer, or listen "
            "to changes of the list"
        )


class ServerBusyError(McpLuceneError):
    """Other calls held all threads until the time of a call was over."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"the call was not run: the server was busy with other calls, or still starting, "
            f"for {seconds:g} seconds; try again"
        )


class QueryDisplacedError(McpLuceneError):
    """A call that took long was stopped, since too many others took long as well."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"the call was stopped after {seconds:g} seconds or more, since too many others that "
            "take long were running; ask for less, or ask again later"
        )


class AnswerTooLongError(McpLuceneError):
    """Not even the ids of an answer fit into the length that was asked for."""

    def __init__(self, characters: int) -> None:
        super().__init__(
            f"the answer does not fit into {characters:,} characters; ask for more with "
            "max_characters"
        )
