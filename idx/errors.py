"""Errors of the command line, and the messages of all errors that it reports."""

import os
from pathlib import Path
from typing import Literal

from shared.errors import FOR_CLIENT_VARIABLE, McpLuceneError
from shared.messages import decodable


def message(error: McpLuceneError) -> str:
    """Return the message of an error; if a server runs this process, that for its client."""
    return error.client_message() if os.environ.get(FOR_CLIENT_VARIABLE) else str(error)


class SourceFileError(McpLuceneError):
    """A file given to idx cannot be read as a document or as a list of documents.

    Some of its pages and pictures may still be read by OCR.
    """

    kind: Literal["failed", "garbled", "unsupported", "secret"] = "failed"
    scanned_pages = 0

    def __init__(self, file: str | Path, reason: str) -> None:
        super().__init__(f"{decodable(str(file))}: {reason}")
        self.file = file
        self.reason = reason


class SecretFileError(SourceFileError):
    """A file seems to hold a secret, and the user has not allowed it."""

    kind = "secret"


class ReadersDiedError(McpLuceneError):
    """The processes that read files end as soon as they start."""

    def __init__(self, memory_bytes: int) -> None:
        super().__init__(
            "the processes that read files end as soon as they start; each may take "
            f"{memory_bytes / 1e6:,.0f} MB of memory",
            "allow more with --max-memory, or run fewer with --workers",
            "ask the user to set max_memory higher or workers lower in the configuration",
        )


class UnsupportedFileError(SourceFileError):
    """A file is of a kind that is not read, such as a picture, an archive or a program."""

    kind = "unsupported"
