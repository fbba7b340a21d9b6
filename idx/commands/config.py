"""`idx config`."""

import typer

from idx.options import Json
from idx.output import print_json, tell
from shared.settings import configuration_file

HIDDEN = "••••"
"""Stands for a password."""

config = typer.Typer(help="What is set, and where.", no_args_is_help=True)


@config.command("show")
def show(as_json: Json = False) -> None:
    """Show every setting, its value and where the value comes from.

    A value comes from a variable of the environment, from the configuration file, or is the
    default; an option of a command beats all three. Passwords are not shown.

    Example: idx config show --json
    """
    from pydantic import SecretStr
    from pydantic_core import to_jsonable_python

    from shared.configuration import settings

    file = configuration_file()
    found = settings()
    values = {
        setting.name: HIDDEN
        if isinstance(setting.value, SecretStr)
        else to_jsonable_python(setting.value)
        for setting in found
    }
    if as_json:
        shown = {
            setting.name: {"value": values[setting.name], "from": setting.origin}
            for setting in found
        }
        print_json({"file": str(file), "exists": file.exists(), "settings": shown})
        return
    from idx.tables import print_table

    tell(f"Configuration file: {file}{'' if file.exists() else ' (does not exist)'}")
    print_table(
        ["Setting", "Value", "From"],
        ((setting.name, _shown(values[setting.name]), setting.origin) for setting in found),
    )


def _shown(value: object) -> str:
    """A value as it fits into a line; nothing for one that is not set."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case list():
            return ", ".join(item["path"] if isinstance(item, dict) else item for item in value)
        case _:
            return str(value)
