"""A client's messages, passed on by a stream that does something about each."""

from abc import abstractmethod
from typing import Any

from anyio.abc import ObjectReceiveStream
from mcp.shared._stream_protocols import ReadStream
from mcp.shared.message import SessionMessage

Received = SessionMessage | Exception
"""The result of the SDK's transport for a line: a message, or the error of parsing it."""


class MessageStream(ObjectReceiveStream[Received]):
    """A stream of messages around another one; the SDK iterates over it.

    Args:
        received: the stream that the messages come from.
    """

    def __init__(self, received: ReadStream[Received]) -> None:
        self._received = received

    @abstractmethod
    async def receive(self) -> Received:
        """Receive the next message.

        Raises:
            anyio.EndOfStream: there are no more.
        """

    @property
    def last_context(self) -> Any:
        """Context variables of the last message's sender; the SDK reads this attribute."""
        return getattr(self._received, "last_context", None)

    async def aclose(self) -> None:
        """Close the stream that the messages come from."""
        await self._received.aclose()
