"""Collections of the configuration file, changed without affecting the rest of the file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import tomlkit
from tomlkit.items import AoT

from idx.configuration.configuration_file import locked, text_of, write
from shared.errors import ConfigurationError
from shared.model.filters import as_collection
from shared.settings.file import content_of, settings_in

_KEY: Final = "collections"


def add_collection(file: Path, entry: Mapping[str, object]) -> bool:
    """Add a collection to the file, or replace the one with the same name.

    Args:
        file: the configuration file, created if it does not exist.
        entry: its name, description, folder and filters; empty ones are left out.

    Returns:
        Whether there was one with this name.

    Raises:
        ConfigurationError: the file cannot be read or written, or it or a value is invalid.
    """
    wanted = {key: value for key, value in entry.items() if value}
    with locked(file):
        text = text_of(file)
        entries = content_of(text, file).get(_KEY, [])
        names = [known.get("name") for known in entries]
        document = tomlkit.parse(text)
        if _KEY not in document:
            if text.strip():
                document.add(tomlkit.nl())
            document.add(_KEY, tomlkit.aot())
        tables = _tables(document, file)
        is_known = wanted["name"] in names
        table = tomlkit.item(dict(wanted))
        if is_known:
            tables[names.index(wanted["name"])] = table
        else:
            table.trivia.indent = "\n" if len(tables) else ""
            tables.append(table)
        _write(file, document)
    return is_known


def remove_collection(file: Path, name: str) -> bool:
    """Remove a collection from the file.

    Returns:
        Whether there was one with this name.

    Raises:
        ConfigurationError: the file cannot be read or written, or is invalid.
    """
    with locked(file):
        text = text_of(file)
        names = [known.get("name") for known in content_of(text, file).get(_KEY, [])]
        if name not in names:
            return False
        document = tomlkit.parse(text)
        tables = _tables(document, file)
        del tables[names.index(name)]
        if not tables:
            document.remove(_KEY)
        _write(file, document)
    return True


def _tables(document: tomlkit.TOMLDocument, file: Path) -> Any:
    """Return the list of collections.

    Raises:
        ConfigurationError: they are in an array, whose comments would be lost.
    """
    if not isinstance(tables := document[_KEY], AoT):
        raise ConfigurationError(
            file,
            "has its collections in an array; write each as a table [[collections]], or edit it "
            "by hand",
        )
    return tables


def _write(file: Path, document: tomlkit.TOMLDocument) -> None:
    text = tomlkit.dumps(document)
    for setting in settings_in(content_of(text, file), file).collections:
        as_collection(setting)
    write(file, text)
