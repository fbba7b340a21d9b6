"""Command `idx folders` and its subcommands."""

from pathlib import Path
from typing import Annotated

import typer

from idx.cli.completions import remembered_folders
from idx.cli.options import Json
from idx.output.printing import print_json, say, tell
from shared.settings.current import configuration_file
from shared.system.shell import joined

folders = typer.Typer(help="Manage the folders that are indexed by default.", no_args_is_help=True)

Paths = Annotated[list[Path], typer.Argument(metavar="PATH…", readable=False, help="Folders.")]


@folders.command("list")
def list_folders(as_json: Json = False) -> None:
    """List the folders remembered in the configuration file.

    Example: idx folders list --json
    """
    from idx.configuration.configuration_file import warn_of_variable
    from shared.files.access import is_folder
    from shared.settings.file import read

    file = configuration_file()
    warn_of_variable("folders", file, "the folders")
    remembered = read(file).folders
    if as_json:
        print_json(
            [
                {
                    "path": str(folder.path),
                    "include": folder.include,
                    "exclude": folder.exclude,
                    "exists": is_folder(folder.path),
                }
                for folder in remembered
            ]
        )
        return
    from idx.output.printing import Unbroken
    from idx.output.tables import print_table

    print_table(
        ["Folder", "Include", "Exclude", "Exists"],
        (
            (
                Unbroken(folder.path),
                "  ".join(folder.include),
                "  ".join(folder.exclude),
                "yes" if is_folder(folder.path) else "no",
            )
            for folder in remembered
        ),
    )


@folders.command("add")
def add(
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
    from idx.configuration.configuration_file import warn_of_variable
    from idx.configuration.remembered_folders import add_folders

    file = configuration_file()
    warn_of_variable("folders", file, "the folders")
    added, present = add_folders(file, paths, include or (), exclude or ())
    if as_json:
        print_json({"added": [*map(str, added)], "present": [*map(str, present)]})
        return
    for folder in added:
        tell(f"Added {folder} to {file}")
    for folder in present:
        tell(f"{folder} is already remembered; nothing was changed.")


@folders.command("remove")
def remove(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH…",
            readable=False,
            autocompletion=remembered_folders,
            help="Folders.",
        ),
    ],
    as_json: Json = False,
) -> None:
    """Forget folders; their documents stay in the index until they are deleted.

    Unknown folders are reported, and the exit code is then 1.

    Example: idx folders remove ~/Notes
    """
    from idx.configuration.configuration_file import warn_of_variable
    from idx.configuration.remembered_folders import remove_folders

    file = configuration_file()
    warn_of_variable("folders", file, "the folders")
    done = remove_folders(file, paths)
    if as_json:
        print_json({"removed": [*map(str, done.removed)], "unknown": [*map(str, done.unknown)]})
    else:
        for folder in done.removed:
            tell(f"Removed {folder} from {file}")
    for folder in done.covered:
        say(
            f"{folder} lies in a folder that is still remembered: its documents stay, as part of it"
        )
    if left := [folder for folder in done.removed if folder not in done.covered]:
        named = joined(map(str, left))
        say(
            "The documents stay in the index; to remove them, and those of indexed folders inside: "
            f"idx sync --exclude '*' --prune-missing {named}"
        )
    if done.inside:
        named = joined(map(str, done.inside))
        say(f"To add the documents of remembered folders inside again: idx sync {named}")
    for path in done.unknown:
        say(f"Error: {path} is not a remembered folder; see idx folders list")
    if done.unknown:
        raise typer.Exit(1)
