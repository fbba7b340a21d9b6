"""Memory and processor time: what the machine has, and what a process may use."""

import sys

if sys.platform == "win32":
    from shared.system.windows.limits import (
        EXIT_CODE_AFTER_TIME,
        LIMITS_MEMORY,
        address_space_limit,
        end_with_parent,
        limit_file_size,
        limit_memory,
        limit_processor_time,
        max_open_files,
        memory_bytes,
        reserve,
        usable_cores,
    )
else:
    from shared.system.posix.limits import (
        EXIT_CODE_AFTER_TIME,
        LIMITS_MEMORY,
        address_space_limit,
        end_with_parent,
        limit_file_size,
        limit_memory,
        limit_processor_time,
        max_open_files,
        memory_bytes,
        reserve,
        usable_cores,
    )

__all__ = [
    "EXIT_CODE_AFTER_TIME",
    "LIMITS_MEMORY",
    "address_space_limit",
    "end_with_parent",
    "limit_file_size",
    "limit_memory",
    "limit_processor_time",
    "max_open_files",
    "memory_bytes",
    "reserve",
    "usable_cores",
]
