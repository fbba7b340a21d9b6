"""TOML edited in place: comments, order and layout are kept."""

from collections.abc import Sequence
from typing import Any


def parse(text: str) -> dict[str, Any]:
    """Parse a TOML text.

    Raises:
        ValueError: it is not valid TOML; the message gives the place and the reason.
    """
    import tomllib

    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("values are nested too deeply") from error


def with_value(text: str, path: Sequence[str], value: Any) -> str:
    """Return a text with a value set at a path, adding missing tables on the way.

    Args:
        text: a text that `parse` accepts, in which every value on the way is a table.
        path: the keys.
        value: the new value.

    Raises:
        ValueError: the layout of the text does not allow the value.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError
    from tomlkit.items import InlineTable, Table

    document = tomlkit.parse(text)
    *tables, last = path
    table: Any = document
    try:
        for key in tables:
            if key not in table:
                # Headings are needed only for the tables within it.
                table[key] = tomlkit.table(is_super_table=True)
            table = table[key]
        item = tomlkit.item(value, table if isinstance(table, InlineTable) else None)
        if isinstance(item, Table) and text.strip():
            item.trivia.indent = "\n"
        table[last] = item
    except TOMLKitError as error:
        raise ValueError(str(error)) from error
    changed = tomlkit.dumps(document)
    if text.count("\r\n") == text.count("\n") > 0:
        changed = changed.replace("\r\n", "\n").replace("\n", "\r\n")
    return changed
