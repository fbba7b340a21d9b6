"""The options of `mcp-lucene --admin`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from shared.errors import ServerOptionError

_PANEL: Final = "Administration"

Admin = Annotated[
    bool,
    typer.Option(
        "--admin",
        rich_help_panel=_PANEL,
        help="Offer the tools that run idx: crawls, folders, upkeep of the index.",
    ),
]

Roots = Annotated[
    list[Path],
    typer.Option(
        "--root",
        metavar="PATH",
        readable=False,
        rich_help_panel=_PANEL,
        help="Folders may be crawled that lie under this one; can be repeated.",
    ),
]


def check(*, admin: bool, roots: Sequence[Path]) -> None:
    """Refuse one of the options without the other.

    Raises:
        ServerOptionError: there is one.
    """
    if admin and not roots:
        raise ServerOptionError(
            "--admin needs --root PATH: without a folder under which folders may be crawled, "
            "there is nothing to administer"
        )
    if roots and not admin:
        raise ServerOptionError("--root needs --admin")
