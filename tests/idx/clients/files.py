"""The file of a client in the home folder of a test."""

import tomllib
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from idx.clients.catalogue import CLIENTS
from idx.clients.config_files import parse
from tests.programs import PROGRAMS

PROGRAM = str(PROGRAMS / "mcp-lucene")


def file_of(client: str) -> Path:
    """The file of a client in the scope that holds if none is named."""
    known = CLIENTS[client]
    return known.file(known.scopes[0])


def servers(client: str, file: Path) -> dict[str, Any]:
    text = file.read_bytes().decode("utf-8-sig")
    found: dict[str, Any] = tomllib.loads(text) if file.suffix == ".toml" else parse(text)
    for key in CLIENTS[client].keys:
        found = found[key]
    return found


def only_added(before: str, after: str) -> bool:
    """Whether a text has everything that another one has, in the same order."""
    changes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return {change[0] for change in changes} <= {"equal", "insert"}
