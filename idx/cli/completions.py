"""Completions of fields and collections in a shell, which starts `idx` when Tab is pressed."""

import os
import re
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

import typer

from shared.errors import McpLuceneError
from shared.model.request import BY_SCORE

if TYPE_CHECKING:
    from shared.reading.catalog import Purpose

_TIMEOUT_SECONDS: Final = 5.0
"""Timeout of a completion, in seconds, since the user is waiting."""

_SAFE: Final = re.compile(r"[\w.@/-]+")
"""Names without a meaning to any shell; others, which documents may have, are not offered."""


def complete(run: Callable[[], None]) -> None:
    """Run the command line as a shell's request for completions, and end in time."""
    # Java and libraries also write to stderr.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    limit = threading.Timer(_TIMEOUT_SECONDS, os._exit, (1,))
    limit.daemon = True
    limit.start()
    try:
        run()
    finally:
        limit.cancel()


def fields(purpose: "Purpose") -> Callable[[typer.Context, str], list[str]]:
    """Return a function that completes names of fields of the index."""

    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        names = [BY_SCORE] if purpose == "sort" else []
        return _offered([*names, *_fields_of_index(ctx, purpose)], incomplete)

    return complete


def conditions(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete the field of a condition."""
    names = _offered(_fields_of_index(ctx, "filter"), incomplete)
    # The shell would append a space to a single completion.
    signs = ("=", "!=") if len(names) == 1 else ("=",)
    return [name + sign for name in names for sign in signs]


def collections(incomplete: str) -> list[str]:
    """Complete names of the collections of the configuration."""
    from shared.settings.current import collection_settings

    try:
        return _offered((collection.name for collection in collection_settings()), incomplete)
    except McpLuceneError:
        return []


def _fields_of_index(ctx: typer.Context, purpose: "Purpose") -> list[str]:
    """Return fields of the index named on the command line; none if it cannot be read."""
    from shared.reading.searcher import Searcher
    from shared.settings.current import configured

    try:
        path = ctx.params["index_path"]
        source = ctx.get_parameter_source("index_path")
        if source is not None and source.name == "DEFAULT":
            path = configured("index_path") or path
        # The shell has not expanded the tilde yet.
        with Searcher(os.path.expanduser(path)) as searcher:  # noqa: PTH111 - Path.expanduser fails without a home
            return searcher.catalog.complete_fields(purpose)
    except McpLuceneError:
        return []


def _offered(names: Iterable[str], typed: str) -> list[str]:
    return [name for name in names if name.startswith(typed) and _SAFE.fullmatch(name)]
