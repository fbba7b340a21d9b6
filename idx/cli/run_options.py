"""Options of a run, from the options of a command and the configuration."""

import os
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import typer

from idx.cli.options import ReadingOptions, VectorsChoice
from idx.crawl.patterns import Selection, Selections
from idx.extraction.pool import Limits
from idx.extraction.programs import default_languages, find_libreoffice, find_tesseract
from idx.extraction.types import MEMBER_SHARE_OF_TIMEOUT, OCR_TIME_FACTOR, ExtractionOptions, Ocr
from idx.models import give_model
from idx.output.printing import say, warn
from idx.sync.plan import SyncOptions
from idx.sync.targets import Move, moved, named_move
from shared.errors import McpLuceneError
from shared.files.secret_files import allowed_paths
from shared.messages import decodable
from shared.ocr import cache_of
from shared.reading.searcher import Searcher
from shared.settings.current import configuration_file, remembered_folders
from shared.settings.defaults import OCR_LANGUAGES_PATTERN, VARIABLES, default_workers
from shared.settings.model import Folder

_MEGABYTE = 1_000_000


def sync_options(
    context: typer.Context,
    reading: ReadingOptions,
    *,
    index_path: Path,
    wait: float,
    vectors: VectorsChoice,
    move: Move | None = None,
) -> SyncOptions:
    general = Selection(
        reading.include or (),
        reading.exclude or (),
        reading.hidden,
        reading.follow_links,
        allowed_paths(reading.allow_secrets or ()),
    )
    own = {
        os.path.realpath(moved(folder.path, move)): own_patterns(folder, context)
        for folder in remembered_folders()
        if folder.include or folder.exclude
    }
    return SyncOptions(
        index_path=index_path,
        selections=Selections(general, own),
        extraction=extraction_options(reading, index_path),
        limits=limits(reading),
        layout=reading.layout or "keep",
        workers=reading.workers or default_workers(),
        wait=wait,
        create=True,
        on_created=partial(give_model, vectors=vectors),
        move=move,
    )


def own_patterns(folder: Folder, ctx: typer.Context) -> Selection:
    """Return a folder's own patterns; those to include do not add to ``--include``."""
    source = ctx.get_parameter_source("include")
    is_on_command_line = source is not None and source.name == "COMMANDLINE"
    return Selection(() if is_on_command_line else folder.include, folder.exclude)


def extraction_options(reading: ReadingOptions, index_path: Path) -> ExtractionOptions:
    return ExtractionOptions(
        encoding=reading.encoding,
        pdf_engine=reading.pdf_engine,
        pdf_password=reading.pdf_password,
        max_megabytes=reading.max_size,
        max_rows=reading.max_rows,
        table_seconds=reading.timeout / 2,
        ocr=_ocr(reading, index_path),
        libreoffice=find_libreoffice(),
        member_seconds=reading.timeout * MEMBER_SHARE_OF_TIMEOUT,
        hidden=reading.hidden,
        exclude=tuple(reading.exclude or ()),
        allow_secrets=allowed_paths(reading.allow_secrets or ()),
    )


def _ocr(reading: ReadingOptions, index_path: Path) -> Ocr | None:
    """Return the recognition of text in pictures; None if it is off or there is no Tesseract."""
    program = None if reading.ocr == "off" else find_tesseract()
    if program is None:
        if reading.ocr == "force":
            warn("--ocr force has no effect: Tesseract is not installed; see idx doctor")
        return None
    if reading.ocr_languages and not re.fullmatch(OCR_LANGUAGES_PATTERN, reading.ocr_languages):
        raise typer.BadParameter(
            "give the languages as Tesseract names them, with + between them: deu+eng",
            param_hint="--ocr-languages",
        )
    languages = reading.ocr_languages or default_languages(program)
    if not languages:
        warn(f"there is no OCR: {program} names no languages; see idx doctor")
        return None
    seconds = reading.timeout * OCR_TIME_FACTOR * MEMBER_SHARE_OF_TIMEOUT
    return Ocr(
        program,
        languages,
        seconds,
        reading.ocr,
        cache=cache_of(index_path),
        at_once=reading.workers or default_workers(),
    )


def limits(reading: ReadingOptions) -> Limits:
    return Limits(reading.timeout, reading.max_memory * _MEGABYTE)


class NoFoldersError(McpLuceneError):
    """A command on folders was given none, and none is remembered."""


def wanted_folders(paths: Sequence[Path] | None) -> list[Path]:
    """Return the paths of a command, or the folders of the configuration file if there are none."""
    folders = [*(paths or ())] or [folder.path for folder in remembered_folders()]
    if not folders:
        raise NoFoldersError(
            "there are no folders: name them, or remember them with: idx folders add PATH"
        )
    return folders


def requested_move(
    paths: Sequence[Path], index_path: Path, moved_from: Path | None, *, dry_run: bool
) -> Move | None:
    """Return the move that the user named, if any, and let the configuration follow it."""
    if moved_from is None:
        return None
    if len(paths) != 1:
        raise typer.BadParameter("give one moved folder", param_hint="--moved-from")
    with Searcher(index_path) as searcher:
        move = named_move(paths, moved_from, searcher.folders())
    if not dry_run:
        _update_configuration(move)
    return move


def _update_configuration(move: Move) -> None:
    from idx.configuration import move_folder

    file = configuration_file()
    if file.exists() and move_folder(file, move.old, move.new):
        say(f"{file} names {decodable(str(move.new))} in place of {decodable(str(move.old))} now")
    variable = VARIABLES["folders"]
    if str(move.old) in os.environ.get(variable, ""):
        warn(f"{variable} still names {decodable(str(move.old))}; change it where it is set")
