"""Pipes whose other end is closed."""

import errno
import sys

if sys.platform == "win32":

    def is_of_closed_pipe(error: OSError) -> bool:
        """Check whether an error says that nobody reads a pipe any more.

        While the other end is being closed, Windows' C library has no name for that.
        """
        return error.errno in {errno.EPIPE, errno.EINVAL}

else:

    def is_of_closed_pipe(error: OSError) -> bool:
        """Check whether an error says that nobody reads a pipe any more."""
        return error.errno == errno.EPIPE
