"""Command `idx config` and its subcommands."""

import sys
from typing import Annotated, Final

import typer

from idx.cli.options import Json
from idx.output.printing import print_json, tell, warn
from shared.settings.current import configuration_file
from shared.settings.defaults import VARIABLES
from shared.system import others_may_read
from shared.system.shell import quoted

HIDDEN = "••••"
"""Substitute for a password."""

_PROMPTED_SETTING: Final = "pdf_password"
"""Setting whose value may be omitted from the command line."""


config = typer.Typer(help="Show and change the settings.", no_args_is_help=True)

Key = Annotated[
    str,
    typer.Argument(
        metavar="KEY", help="Name of a setting, such as index-path; idx config show lists all."
    ),
]


@config.command("show")
def show(as_json: Json = False) -> None:
    """Show every setting, its value and where the value comes from.

    A value comes from an environment variable, else from the configuration file, else it is the
    default; an option of a command overrides all three. Passwords are hidden.

    Example: idx config show --json
    """
    from pydantic import SecretStr
    from pydantic_core import to_jsonable_python

    from shared.settings.current import settings

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
    from idx.output.tables import print_table

    tell(f"Configuration file: {file}{'' if file.exists() else ' (does not exist)'}")
    print_table(
        ["Setting", "Value", "From"],
        ((setting.name, _shown(values[setting.name]), setting.origin) for setting in found),
    )


@config.command("set")
def set_(
    key: Key,
    values: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[VALUE]...",
            help="Value; several for include and exclude. Omit a password to enter it at a "
            "prompt or pass it on standard input.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a setting to the configuration file; the rest of the file stays unchanged.

    Examples: idx config set index-path ~/search/index; idx config set exclude 'old/' '*.tmp'
    """
    from idx.configuration.configuration_file import warn_of_variable
    from idx.configuration.setting_changes import set_setting, setting_name
    from shared.settings.file import is_secret

    name = setting_name(key)
    file = configuration_file()
    given = values or [_password(name)]
    value = set_setting(file, name, given)
    if values and name == _PROMPTED_SETTING:
        warn(
            "a password on the command line is visible to other users, and stays in the history "
            "of the shell; omit it to be asked for it"
        )
    if name == _PROMPTED_SETTING and others_may_read(file.stat()):
        warn(f"other users can read {file}; to prevent this: chmod 600 {quoted(str(file))}")
    warn_of_variable(name, file)
    if as_json:
        shown = HIDDEN if is_secret(name) else value
        print_json({"file": str(file), "setting": name, "value": shown})
    elif is_secret(name):
        tell(f"Set {name} in {file}")
    else:
        tell(f"Set {name} to {_shown(value)} in {file}")


@config.command("unset")
def unset(key: Key, as_json: Json = False) -> None:
    """Remove a setting from the configuration file, so that its default applies again.

    Example: idx config unset index-path
    """
    from idx.configuration.configuration_file import warn_of_variable
    from idx.configuration.setting_changes import unset_setting

    file = configuration_file()
    name, removed = unset_setting(file, key)
    if name in VARIABLES:
        warn_of_variable(name, file)
    if as_json:
        print_json({"file": str(file), "setting": name, "removed": removed})
    elif removed:
        tell(f"Removed {name} from {file}")
    else:
        tell(f"{name} is not set in {file}; nothing was changed.")


def _password(name: str) -> str:
    """Ask for a value that is missing from the command line."""
    if name != _PROMPTED_SETTING:
        raise typer.BadParameter(f"give a value for {name}")
    if sys.stdin.isatty():
        from getpass import getpass

        return getpass(f"{name}: ", stream=sys.stderr)
    return sys.stdin.readline().rstrip("\r\n")


def _shown(value: object) -> str:
    """Return a value on one line, or "" if it is not set."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case list():
            return ", ".join(item["path"] if isinstance(item, dict) else item for item in value)
        case _:
            return str(value)
