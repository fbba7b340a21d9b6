"""Single files and names on disk: opening, locking, replacing, flushing, and their permissions."""

import sys

if sys.platform == "win32":
    from shared.system.windows.disk import (
        delete,
        exchange,
        flush,
        is_null_device,
        link,
        locked_folder,
        move_folder,
        open_file,
        open_shared,
        others_may_read,
        replace,
        set_mode,
    )
else:
    from shared.system.posix.disk import (
        delete,
        exchange,
        flush,
        is_null_device,
        link,
        locked_folder,
        move_folder,
        open_file,
        open_shared,
        others_may_read,
        replace,
        set_mode,
    )

__all__ = [
    "delete",
    "exchange",
    "flush",
    "is_null_device",
    "link",
    "locked_folder",
    "move_folder",
    "open_file",
    "open_shared",
    "others_may_read",
    "replace",
    "set_mode",
]
