"""The hash that tells whether two files have the same bytes."""

import hashlib
from io import BufferedReader


def content_hash(stream: BufferedReader) -> str:
    """SHA-256 of the bytes of a file, hexadecimal.

    Raises:
        OSError: the file cannot be read.
    """
    return hashlib.file_digest(stream, "sha256").hexdigest()
