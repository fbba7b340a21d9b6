"""Commands on the configuration: `idx config`, `idx folders` and `idx collections`."""

import os
import sys
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from idx.cli.configured_command import collections as known_collections
from idx.cli.options import DEFAULT_INDEX_PATH, PATH, Filters, IndexPath, Json
from idx.output.printing import print_done, print_json, print_table, say, tell, warn
from shared.settings.current import collection_settings, configuration_file, settings
from shared.settings.defaults import VARIABLES
from shared.system import others_may_read
from shared.system.shell import joined, quoted

HIDDEN = "••••"  # substitute for a password

_PROMPTED_SETTING: Final = "pdf_password"  # its value may be omitted from the command line


config = typer.Typer()

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

    file = configuration_file()
    shown: dict[str, dict[str, Any]] = {}
    for setting in settings():
        is_hidden = isinstance(setting.value, SecretStr)
        value = HIDDEN if is_hidden else to_jsonable_python(setting.value)
        shown[setting.name] = {"value": value, "from": setting.origin}
    if as_json:
        print_json({"file": str(file), "exists": file.exists(), "settings": shown})
        return
    tell(f"Configuration file: {file}{'' if file.exists() else ' (does not exist)'}")
    rows = ((name, _shown(each["value"]), each["from"]) for name, each in shown.items())
    print_table(["Setting", "Value", "From"], rows)


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
    from idx.configuration import set_setting, setting_name, warn_of_variable
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
    hides = is_secret(name)
    print_done(
        {"file": str(file), "setting": name, "value": HIDDEN if hides else value},
        f"Set {name} in {file}" if hides else f"Set {name} to {_shown(value)} in {file}",
        as_json=as_json,
    )


@config.command("unset")
def unset(key: Key, as_json: Json = False) -> None:
    """Remove a setting from the configuration file, so that its default applies again.

    Example: idx config unset index-path
    """
    from idx.configuration import unset_setting, warn_of_variable

    file = configuration_file()
    name, removed = unset_setting(file, key)
    if name in VARIABLES:
        warn_of_variable(name, file)
    print_done(
        {"file": str(file), "setting": name, "removed": removed},
        f"Removed {name} from {file}"
        if removed
        else f"{name} is not set in {file}; nothing was changed.",
        as_json=as_json,
    )


def _password(name: str) -> str:
    if name != _PROMPTED_SETTING:
        raise typer.BadParameter(f"give a value for {name}")
    if sys.stdin.isatty():
        from getpass import getpass

        return getpass(f"{name}: ", stream=sys.stderr)
    return sys.stdin.readline().rstrip("\r\n")


def _shown(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case list():
            return ", ".join(item["path"] if isinstance(item, dict) else item for item in value)
        case _:
            return str(value)


folders = typer.Typer()

Paths = Annotated[list[Path], typer.Argument(metavar="PATH…", click_type=PATH, help="Folders.")]


def _file_with(setting: str, what: str | None = None) -> Path:
    """Return the configuration file, after a warning if a variable overrides a setting of it."""
    from idx.configuration import warn_of_variable

    file = configuration_file()
    warn_of_variable(setting, file, what)
    return file


@folders.command("list")
def list_folders(as_json: Json = False) -> None:
    """List the folders remembered in the configuration file.

    Example: idx folders list --json
    """
    from shared.files.access import is_folder
    from shared.settings.file import read

    remembered = [
        folder.model_dump(mode="json") | {"exists": is_folder(folder.path)}
        for folder in read(_file_with("folders", "the folders")).folders
    ]
    if as_json:
        print_json(remembered)
        return
    print_table(
        ["Folder", "Include", "Exclude", "Exists"],
        (
            (
                each["path"],
                "  ".join(each["include"]),
                "  ".join(each["exclude"]),
                "yes" if each["exists"] else "no",
            )
            for each in remembered
        ),
    )


@folders.command("add")
def remember(
    paths: Paths,
    include: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GLOB", help="Index only matching files in these folders; repeatable."
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GLOB", help="Skip matching files and subfolders in these folders; repeatable."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Remember folders in the configuration file, for idx sync to index them.

    Example: idx folders add ~/Documents ~/Notes --exclude 'old/'
    """
    from idx.configuration import add_folders

    file = _file_with("folders", "the folders")
    added, present = add_folders(file, paths, include or (), exclude or ())
    if as_json:
        print_json({"added": [*map(str, added)], "present": [*map(str, present)]})
        return
    for folder in added:
        tell(f"Added {folder} to {file}")
    for folder in present:
        tell(f"{folder} is already remembered; nothing was changed.")


@folders.command("remove")
def forget(paths: Paths, as_json: Json = False) -> None:
    """Forget folders; their documents stay in the index until they are deleted.

    Unknown folders are reported, and the exit code is then 1.

    Example: idx folders remove ~/Notes
    """
    from idx.configuration import remove_folders

    file = _file_with("folders", "the folders")
    removed, unknown = remove_folders(file, paths)
    if as_json:
        print_json({"removed": [*map(str, removed)], "unknown": [*map(str, unknown)]})
    else:
        for folder in removed:
            tell(f"Removed {folder} from {file}")
    if removed:
        say(
            "The documents stay in the index; to remove all that are in there: idx sync --exclude "
            f"'*' --prune-missing {joined(map(str, removed))}. Those of folders still remembered "
            "come back with: idx sync"
        )
    for path in unknown:
        say(f"Error: {path} is not a remembered folder; see idx folders list")
    if unknown:
        raise typer.Exit(1)


collections = typer.Typer()


@collections.command("list")
def list_collections(index_path: IndexPath = DEFAULT_INDEX_PATH, as_json: Json = False) -> None:
    """List the collections of the configuration, with the number of documents in each.

    Example: idx collections list --json
    """
    from idx.errors import message
    from shared.errors import IndexFolderError
    from shared.model.filters import as_collection, in_collection
    from shared.reading.searcher import Searcher

    found = collection_settings()
    shown = [each.model_dump(mode="json") | {"documents": None} for each in found]
    with Searcher(index_path, collections=map(as_collection, found)) as searcher:
        try:
            for each in shown:
                condition = in_collection(each["name"])
                answer = searcher.search(
                    "", filters=condition, content="none", group="document", limit=1
                )
                each["documents"] = answer.total_documents
        except IndexFolderError as error:
            say(f"The documents are not counted: {message(error)}")
    if as_json:
        print_json(shown)
        return
    print_table(
        ["Collection", "Documents", "Folder", "Filters", "Description"],
        (
            (
                each["name"],
                "-" if each["documents"] is None else f"{each['documents']:,}",
                each["folder"] or "",
                "  ".join(each["filters"]),
                each["description"],
            )
            for each in shown
        ),
    )


@collections.command("add")
def add(
    name: Annotated[
        str, typer.Argument(help="Name: letters, digits, dots, hyphens and underscores.")
    ],
    folder: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            click_type=PATH,
            help="Take the files of this folder and its subfolders.",
        ),
    ] = None,
    filters: Filters = None,
    description: Annotated[
        str, typer.Option(help="Sentence about the documents, for assistants.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Add a collection to the configuration file, or replace the one with the same name.

    It is a part of the index, which need not have any documents yet. Servers see it when they are
    started again.

    Examples: idx collections add contracts --folder ~/Documents/Contracts --description "Signed
    contracts since 2015"; idx collections add german --filter language=de
    """
    from idx.configuration import change_collection

    file = _file_with("collections")
    entry = {
        "name": name,
        "description": description,
        "folder": os.path.abspath(folder) if folder else None,  # noqa: PTH100 - resolves no links
        "filters": filters,
    }
    was_known = change_collection(file, name, {key: value for key, value in entry.items() if value})
    print_done(
        {"file": str(file), "name": name, "replaced": was_known},
        f"{'Replaced' if was_known else 'Added'} the collection {name} in {file}",
        as_json=as_json,
    )


@collections.command("remove")
def remove(
    name: Annotated[str, typer.Argument(autocompletion=known_collections, help="Name.")],
    as_json: Json = False,
) -> None:
    """Remove a collection from the configuration file; its documents stay in the index.

    Example: idx collections remove contracts
    """
    from idx.configuration import change_collection

    file = _file_with("collections")
    if not change_collection(file, name, None):
        say(f"Error: {file} has no collection {name}; see idx collections list")
        raise typer.Exit(1)
    removed = {"file": str(file), "removed": name}
    print_done(removed, f"Removed the collection {name} from {file}", as_json=as_json)
