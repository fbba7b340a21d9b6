"""A client's messages, passed on by a stream that does something about each."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Any, Self

import anyio
from mcp.shared._stream_protocols import ReadStream
from mcp.shared.message import SessionMessage

Received = SessionMessage | Exception
"""The result of the SDK's transport for a line: a message, or the error of parsing it."""


class MessageStream(ABC):
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

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Received:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()
