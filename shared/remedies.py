"""Commands and options of `idx` that help against errors of the library.

Both programs report these errors, and their users have the command line; the errors themselves
speak of the Python library.
"""

from typing import Final

from shared.errors import (
    BackupMissingError,
    DocumentDamagedError,
    DocumentNotFoundError,
    IndexDamagedError,
    IndexFolderError,
    IndexLockedError,
    IndexLuceneVersionError,
    IndexMissingError,
    IndexPathError,
    IndexSchemaError,
    McpLuceneError,
    PartDamagedError,
    RestoreDestinationError,
)
from shared.system.shell import quoted

_NEW_INDEX: Final = "create a new one with idx init in another folder and add the documents again"


def command_line_remedy(error: McpLuceneError) -> str:
    """Return the next step on the command line after an error; empty if its message has it."""
    remedy = error.remedy
    match error:
        case IndexFolderError():
            remedy = _remedy_of_index(error)
        case BackupMissingError():
            remedy = "make one with idx backup"
        case RestoreDestinationError():
            remedy = "restore the backup to another folder with --index-path"
        case DocumentNotFoundError():
            remedy = f"{error.suggestion}list the ids with idx list"
    return remedy


def _remedy_of_index(error: IndexFolderError) -> str:
    remedy, path = error.remedy, quoted(str(error.path))
    match error:
        case IndexMissingError():
            remedy = f"create one with: idx init --index-path {path}"
        case IndexPathError(remedy=IndexPathError.REMEDY):
            remedy = "choose another folder with --index-path, or fix its permissions"
        case IndexSchemaError(rebuilds=True):
            remedy = f"rebuild it from its stored text with: idx rebuild --index-path {path}"
        case IndexSchemaError(newer=True) | IndexLuceneVersionError(newer=True):
            pass
        case IndexSchemaError() | IndexLuceneVersionError():
            remedy = _NEW_INDEX
        case IndexLockedError(waited=float() | int()):
            remedy = "wait for it to end, or longer with --wait SECONDS"
        case IndexDamagedError():
            remedy = (
                "find out more with idx check, restore a backup with idx restore, save the rest "
                f"with idx repair, or {_NEW_INDEX}"
            )
        case PartDamagedError():
            remedy = "restore a backup with idx restore, or save the rest with idx repair"
        case DocumentDamagedError():
            remedy = "remove it with idx delete or idx repair, and add it again"
    return remedy
