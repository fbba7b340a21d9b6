"""Completions of options and arguments in the shell, taken from the index."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from idx.cli.shell_completion import is_offered
from shared.errors import McpLuceneError
from shared.model.request import BY_SCORE
from shared.model.schema import FILE_PATH

if TYPE_CHECKING:
    from shared.reading.catalog import Catalog
    from shared.reading.completion import Purpose

Completer = Callable[[typer.Context, str], list[str]]
"""Function of the command's context and the typed text that returns completions."""

_CONDITION: Final = re.compile(r"(.+?)(!=|\^=|>=|<=|=)(.*)", re.DOTALL)


def document_ids(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete document ids."""
    return _answer(ctx, lambda catalog: catalog.complete_ids(incomplete))


def documents(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete document ids and paths of indexed files."""
    return _answer(
        ctx, lambda catalog: [*catalog.complete_ids(incomplete), *_files(catalog, incomplete)]
    )


def fields(purpose: "Purpose") -> Completer:
    """Return a function that completes field names."""

    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        return _answer(ctx, lambda catalog: _fields(catalog, purpose, incomplete))

    return complete


def conditions(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete filter conditions: field names, then the values of a field."""
    return _answer(ctx, lambda catalog: _conditions(catalog, incomplete))


def remembered_folders(incomplete: str) -> list[str]:
    """Complete folders of the configuration file."""
    from shared.settings.current import configuration_file
    from shared.settings.file import read

    try:
        paths = [folder.path.as_posix() for folder in read(configuration_file()).folders]
    except McpLuceneError:
        return []
    home = Path(os.path.expanduser("~")).as_posix()  # noqa: PTH111 - Path.home fails without one
    incomplete = incomplete.replace(os.sep, "/")
    if incomplete.startswith("~/"):
        paths = [f"~{path.removeprefix(home)}" for path in paths if path.startswith(f"{home}/")]
    return [path for path in paths if path.startswith(incomplete) and is_offered(path)]


def collections(incomplete: str) -> list[str]:
    """Complete names of the collections of the configuration."""
    from shared.settings.current import collection_settings

    try:
        names = [collection.name for collection in collection_settings()]
    except McpLuceneError:
        return []
    return [name for name in names if name.startswith(incomplete)]


def _answer(ctx: typer.Context, question: Callable[["Catalog"], list[str]]) -> list[str]:
    """Query the index named on the command line; empty if it cannot be read."""
    from shared.reading.searcher import Searcher
    from shared.settings.current import configured

    try:
        path = ctx.params["index_path"]
        source = ctx.get_parameter_source("index_path")
        if source is not None and source.name == "DEFAULT":
            path = configured("index_path") or path
        # The shell has not expanded the tilde yet.
        with Searcher(os.path.expanduser(path)) as searcher:  # noqa: PTH111 - as above
            found = question(searcher.catalog)
    except McpLuceneError:
        return []
    return [value for value in dict.fromkeys(found) if is_offered(value)]


def _fields(catalog: "Catalog", purpose: "Purpose", typed: str) -> list[str]:
    names = [BY_SCORE] if purpose == "sort" else []
    names += catalog.complete_fields(purpose)
    return [name for name in names if name.startswith(typed)]


def _conditions(catalog: "Catalog", typed: str) -> list[str]:
    if condition := _CONDITION.fullmatch(typed):
        return _with_values(catalog, *condition.groups())
    names = _fields(catalog, "filter", typed)
    # The shell would append a space to a single completion.
    found = _with_values(catalog, names[0], "=", "") if len(names) == 1 else []
    return found or [f"{name}=" for name in names]


def _files(catalog: "Catalog", typed: str) -> list[str]:
    """Return indexed files whose paths begin with the typed text, spelled alike."""
    typed = typed.replace(os.sep, "/")
    name = typed.rpartition("/")[2]
    spelled = typed.removesuffix(name)
    absolute = os.path.abspath(os.path.expanduser(spelled or "."))  # noqa: PTH100, PTH111 - resolves no links
    beginning = f"{Path(absolute).as_posix().rstrip('/')}/"
    return [
        spelled + path.removeprefix(beginning) for path in catalog.complete_files(beginning + name)
    ]


def _with_values(catalog: "Catalog", name: str, operator: str, typed: str) -> list[str]:
    is_file = name == FILE_PATH
    found = catalog.complete_files(typed) if is_file else catalog.complete_values(name, typed)
    return [f"{name}{operator}{value}" for value in found]
