"""Processes and signals: child processes with a common end, and the end of this one."""

import sys

if sys.platform == "win32":
    from shared.system.windows.processes import (
        BACKGROUND_OPTIONS,
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
        BACKGROUND_OPTIONS,
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
    "BACKGROUND_OPTIONS",
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
