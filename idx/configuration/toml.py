"""TOML, changed in place: comments, order and layout stay as they are."""

from collections.abc import Sequence
from typing import Any


def parse(text: str) -> dict[str, Any]:
    """Read a text.

    Raises:
        ValueError: it is no TOML; the message says where and why.
    """
    import tomllib

    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("values are nested too deeply") from error


def with_value(text: str, path: Sequence[str], value: Any) -> str:
    """A text with a value at a path, and tables on the way to it where there are none.

    Args:
        text: what `parse` reads. What stands on the way is a table.
        path: the keys.
        value: what is put there, in place of what is there.

    Raises:
        ValueError: the text is laid out in a way that cannot take the value.
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
                # Only the tables within it have a heading of their own.
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
