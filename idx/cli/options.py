"""Options shared by commands.

A command declares an option with its type from this module and its built-in default from
`shared.settings.defaults`; `idx.cli.configured_command` supplies the values of the configuration
file.
"""

from pathlib import Path
from typing import Annotated

import typer

from shared.settings.defaults import (
    DEFAULT_INDEX_PATH,
    MAX_MEMORY,
    MAX_NORMALIZER_TIMEOUT,
    MAX_TIMEOUT,
    MAX_WORKERS,
    MIN_MEMORY,
    MIN_NORMALIZER_TIMEOUT,
    MIN_TIMEOUT,
    VARIABLES,
    PdfEngineName,
)

IndexPath = Annotated[
    Path,
    typer.Option(
        "--index-path",
        "-i",
        envvar=VARIABLES["index_path"],
        metavar="PATH",
        # An unreadable index is an error of the index, with exit code 1 instead of 2.
        readable=False,
        help="Folder of the index.",
    ),
]

Json = Annotated[
    bool, typer.Option("--json", help="Print the answer as JSON; messages stay on stderr.")
]

Plain = Annotated[
    bool,
    typer.Option(
        "--plain",
        help="Print one path a line and nothing else; of a document without a file, its id.",
    ),
]

Wait = Annotated[
    float,
    typer.Option(
        "--wait",
        envvar=VARIABLES["wait"],
        min=0,
        metavar="SECONDS",
        help="How long to wait for another writer of this index to end.",
    ),
]

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; needed without a terminal.")]

Include = Annotated[
    list[str] | None,
    typer.Option(
        "--include",
        envvar=VARIABLES["include"],
        metavar="GLOB",
        help="Of a folder, only files that match; repeatable.",
    ),
]

Exclude = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude",
        envvar=VARIABLES["exclude"],
        metavar="GLOB",
        help="Of a folder, no files or folders that match; repeatable.",
    ),
]

Hidden = Annotated[
    bool,
    typer.Option(
        "--hidden/--no-hidden",
        envvar=VARIABLES["hidden"],
        help="Take names that begin with a dot, too.",
    ),
]

FollowLinks = Annotated[
    bool,
    typer.Option(
        "--follow-links/--no-follow-links",
        envvar=VARIABLES["follow_links"],
        help="Follow symbolic links in a folder.",
    ),
]

AllowSecrets = Annotated[
    list[Path] | None,
    typer.Option(
        "--allow-secret",
        envvar=VARIABLES["allow_secrets"],
        metavar="PATH",
        readable=False,
        help="A file to take though it is a secret or holds one; repeatable.",
    ),
]

MaxSize = Annotated[
    float,
    typer.Option(
        "--max-size",
        envvar=VARIABLES["max_size"],
        min=0,
        metavar="MB",
        help="Largest file to read.",
    ),
]

Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        envvar=VARIABLES["encoding"],
        metavar="NAME",
        help="Encoding of text files, such as cp1252; else it is detected.",
    ),
]

PdfEngine = Annotated[
    PdfEngineName,
    typer.Option(
        "--pdf-engine",
        envvar=VARIABLES["pdf_engine"],
        help="What reads PDFs: auto takes pdfplumber for pages with ruled tables, else PDFium.",
    ),
]

PdfPassword = Annotated[
    str | None,
    typer.Option(
        "--pdf-password",
        envvar=VARIABLES["pdf_password"],
        metavar="PASSWORD",
        help="Password of PDFs that need one; in the variable, other users cannot see it.",
    ),
]

Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        envvar=VARIABLES["workers"],
        min=1,
        max=MAX_WORKERS,
        metavar="N",
        help="Processes that read files; else one for each core.",
    ),
]

Timeout = Annotated[
    float,
    typer.Option(
        "--timeout",
        envvar=VARIABLES["timeout"],
        min=MIN_TIMEOUT,
        max=MAX_TIMEOUT,
        metavar="SECONDS",
        help="How long reading one file may take.",
    ),
]

MaxMemory = Annotated[
    int,
    typer.Option(
        "--max-memory",
        envvar=VARIABLES["max_memory"],
        min=MIN_MEMORY,
        max=MAX_MEMORY,
        metavar="MB",
        help="Memory that one of the processes may take.",
    ),
]

Normalize = Annotated[
    bool,
    typer.Option(
        "--normalize/--no-normalize",
        envvar=VARIABLES["normalize"],
        help="Let a language model rewrite the query into English, and search both.",
    ),
]

NormalizerModel = Annotated[
    str | None,
    typer.Option(
        "--normalizer-model",
        envvar=VARIABLES["normalizer_model"],
        metavar="NAME",
        help="The language model, as its server calls it.",
    ),
]

NormalizerUrl = Annotated[
    str,
    typer.Option(
        "--normalizer-url",
        envvar=VARIABLES["normalizer_url"],
        metavar="URL",
        help="Address of the language model's server, which speaks as OpenAI's does.",
    ),
]

NormalizerTimeout = Annotated[
    float,
    typer.Option(
        "--normalizer-timeout",
        envvar=VARIABLES["normalizer_timeout"],
        min=MIN_NORMALIZER_TIMEOUT,
        max=MAX_NORMALIZER_TIMEOUT,
        metavar="SECONDS",
        help="How long to wait for the language model.",
    ),
]

__all__ = [
    "DEFAULT_INDEX_PATH",
    "AllowSecrets",
    "Encoding",
    "Exclude",
    "FollowLinks",
    "Hidden",
    "Include",
    "IndexPath",
    "Json",
    "MaxMemory",
    "MaxSize",
    "Normalize",
    "NormalizerModel",
    "NormalizerTimeout",
    "NormalizerUrl",
    "PdfEngine",
    "PdfPassword",
    "Plain",
    "Timeout",
    "Wait",
    "Workers",
    "Yes",
]
