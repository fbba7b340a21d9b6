"""The hash that tells whether two files have the same bytes."""

import hashlib
from pathlib import Path


def content_hash(file: Path) -> str:
    """SHA-256 of a file's bytes, hexadecimal.

    Raises:
        OSError: the file cannot be read.
    """
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
