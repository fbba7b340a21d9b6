"""Processes and signals: child processes with a common end, and the end of this one."""

import sys

if sys.platform == "win32":
    from shared.system.windows.processes import (
        GROUP_OPTIONS,
        TERMINATED_EXIT_CODES,
        TERMINATIONS,
        Group,
        end_by_signal,
        end_together,
        exited,
        handle_signals,
        ignore_interruptions,
        release_signals,
        spawning,
    )
else:
    from shared.system.posix.processes import (
        GROUP_OPTIONS,
        TERMINATED_EXIT_CODES,
        TERMINATIONS,
        Group,
        end_by_signal,
        end_together,
        exited,
        handle_signals,
        ignore_interruptions,
        release_signals,
        spawning,
    )

__all__ = [
    "GROUP_OPTIONS",
    "TERMINATED_EXIT_CODES",
    "TERMINATIONS",
    "Group",
    "end_by_signal",
    "end_together",
    "exited",
    "handle_signals",
    "ignore_interruptions",
    "release_signals",
    "spawning",
]
