"""Confirmation by the user that a new folder is a renamed or moved folder of the index."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from idx.output.printing import confirm, say, warn
from idx.sync.moved_folders import FolderRecognizedError, Move, moved, named_move, recognized
from shared.errors import IndexMissingError
from shared.files.access import is_missing
from shared.messages import decodable
from shared.reading.searcher import Searcher
from shared.settings.current import configuration_file
from shared.settings.defaults import VARIABLES


def settled_moves(
    paths: Sequence[Path],
    index_path: Path,
    *,
    moved_from: Path | None = None,
    not_moved: bool = False,
    dry_run: bool = False,
) -> list[Move]:
    """Return the moves named or confirmed by the user, and update the configuration.

    Args:
        paths: the paths named in the command.
        index_path: the index folder.
        moved_from: the former path of the command's only folder, if the user named it.
        not_moved: whether the user said that no folder was moved.
        dry_run: whether to skip questions and changes.

    Raises:
        BadParameter: `moved_from` is given without exactly one folder, or with `not_moved`.
        FolderRecognizedError: the user cannot be asked.
        SourceFileError: the requested move is impossible.
        IndexFolderError: the index cannot be used; the subclass gives the reason.
    """
    if moved_from is not None and (not_moved or len(paths) != 1):
        raise typer.BadParameter(
            "give one moved folder, without --not-moved", param_hint="--moved-from"
        )
    if not_moved:
        return []
    with Searcher(index_path) as searcher:
        try:
            folders = searcher.folders()
        except IndexMissingError:
            if moved_from is not None:
                raise
            return []
        if moved_from is not None:
            moves = [named_move(paths, moved_from, folders)]
        elif any(is_missing(folder.path) for folder in folders):
            moves = [*recognized(paths, *searcher.files())]
        else:
            moves = []
    if dry_run:
        return moves if moved_from is not None else [*filter(_warn_about, moves)]
    if moved_from is None:
        moves = [*filter(_is_confirmed, moves)]
    for move in moves:
        _update_configuration(move)
    return moves


def after(moves: Sequence[Move], paths: Sequence[Path]) -> list[Path]:
    """Return the paths of a command with moves applied, without duplicates."""
    return [*dict.fromkeys(moved(path, moves) for path in paths)]


def _is_confirmed(move: Move) -> bool:
    if not sys.stdin.isatty():
        raise FolderRecognizedError(move)
    old, new = decodable(str(move.old)), decodable(str(move.new))
    return confirm(
        f"replace {old}, a missing folder of the index, with {new}, which has most of its files",
        yes=False,
    )


def _warn_about(move: Move) -> bool:
    warn(str(FolderRecognizedError(move)))
    return False


def _update_configuration(move: Move) -> None:
    from idx.configuration.lists import move_folder

    file = configuration_file()
    if file.exists() and move_folder(file, move.old, move.new):
        say(f"{file} names {decodable(str(move.new))} in place of {decodable(str(move.old))} now")
    variable = VARIABLES["folders"]
    if str(move.old) in os.environ.get(variable, ""):
        warn(f"{variable} still names {decodable(str(move.old))}; change it where it is set")
