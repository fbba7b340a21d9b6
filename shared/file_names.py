"""Names of files as text: not every name is one."""

import os


def decodable(path: str) -> str:
    r"""A path as valid Unicode: bytes that are no UTF-8, surrogates in Python, become ``\xNN``."""
    return os.fsencode(path).decode(errors="backslashreplace")
