"""Pipes: whether the other end is closed, and whether there is room."""

import errno
import select
import sys
import time
from typing import Final

_PAUSE_SECONDS: Final = 0.05

if sys.platform == "win32":
    import msvcrt

    from shared.system.windows.pipes import is_broken

    def has_hung_up(descriptor: int) -> bool:
        """Check whether a pipe is closed at the other end and has no unread data.

        While there is unread data, Windows does not say.
        """
        return is_broken(msvcrt.get_osfhandle(descriptor))

    def is_of_closed_pipe(error: OSError) -> bool:
        """Check whether an error says that nobody reads a pipe any more.

        While the other end is being closed, Windows' C library has no name for that.
        """
        return error.errno in {errno.EPIPE, errno.EINVAL}

    def wait_for_room(_descriptor: int) -> None:
        """Wait a moment for room in a pipe, for which Windows has no call."""
        time.sleep(_PAUSE_SECONDS)

else:
    _HANGUP: Final = select.POLLHUP | getattr(select, "POLLRDHUP", 0)

    def has_hung_up(descriptor: int) -> bool:
        """Check whether a pipe is closed at the other end, even if unread data remains."""
        poll = select.poll()
        poll.register(descriptor, _HANGUP)
        return bool(poll.poll(0))

    def is_of_closed_pipe(error: OSError) -> bool:
        """Check whether an error says that nobody reads a pipe any more."""
        return error.errno == errno.EPIPE

    def wait_for_room(descriptor: int) -> None:
        """Wait until there is room in a pipe."""
        select.select([], [descriptor], [])
