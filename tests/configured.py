"""The configuration file of a test, and what `idx` says of it."""

from pathlib import Path
from typing import Any

from shared.settings.current import configuration_file
from tests.conftest import Idx


def write(text: str) -> Path:
    file = configuration_file()
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return file


def shown(idx: Idx) -> dict[str, tuple[Any, str]]:
    settings = idx.json("config", "show")["settings"]
    return {name: (setting["value"], setting["from"]) for name, setting in settings.items()}
