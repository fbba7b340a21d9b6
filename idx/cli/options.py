"""Options shared by commands.

A command declares an option with its type from this module and its built-in default from
`shared.settings.defaults`; `idx.cli.configured_command` supplies the values of the configuration
file.
"""

from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from idx.cli.completions import collections, conditions
from shared.files.cluster_path import index_path
from shared.model.request import MAX_DAYS
from shared.settings.defaults import (
    DEFAULT_INDEX_PATH,
    MAX_ANSWER_MAX_TOKENS,
    MAX_ANSWER_TIMEOUT,
    MAX_COUNT,
    MAX_MEMORY,
    MAX_NORMALIZER_TIMEOUT,
    MAX_TIMEOUT,
    MAX_WORKERS,
    MIN_ANSWER_MAX_TOKENS,
    MIN_MEMORY,
    MIN_NORMALIZER_TIMEOUT,
    MIN_TIMEOUT,
    VARIABLES,
    Layout,
    OcrMode,
    PdfEngineName,
)

_DAYS_OF: Final = {"d": 1, "w": 7, "m": 365.25 / 12, "y": 365.25}


def days(text: str) -> float:
    """Return an age such as ``180d``, ``26w``, ``6m`` or ``2y`` in days.

    Raises:
        BadParameter: the text is not an age up to a hundred years.
    """
    number, unit = (text[:-1], text[-1:]) if text[-1:] in _DAYS_OF else (text, "d")
    try:
        age = float(number) * _DAYS_OF[unit]
    except ValueError:
        age = 0.0
    if not 0 < age <= MAX_DAYS:
        raise typer.BadParameter(
            f"{text!r} is not an age; write a number of days, weeks, months or years such as "
            "180d, 26w, 6m or 2y"
        )
    return age


IndexPath = Annotated[
    Path,
    typer.Option(
        "--index-path",
        "-i",
        envvar=VARIABLES["index_path"],
        metavar="PATH",
        # An unreadable index is an error of the index, with exit code 1 instead of 2.
        readable=False,
        callback=index_path,
        help="Index folder, or opensearch://HOST:PORT/NAME for an index on a cluster.",
    ),
]

Json = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON; messages go to stderr.")
]

Plain = Annotated[
    bool,
    typer.Option(
        "--plain",
        help="Print only one path per line, or the id of a document without a file.",
    ),
]

Wait = Annotated[
    float,
    typer.Option(
        "--wait",
        envvar=VARIABLES["wait"],
        min=0,
        metavar="SECONDS",
        help="Maximum time to wait for another writer to release the index.",
    ),
]

VectorsChoice = Literal["now", "later", "off"]

Vectors = Annotated[
    VectorsChoice,
    typer.Option(
        "--vectors",
        help="For search by meaning: embed what was added now, or leave it to idx semantic update. "
        "A new index gets no vectors at all with off.",
    ),
]

SentenceModel = Annotated[
    str,
    typer.Option(
        "--model",
        envvar=VARIABLES["semantic"],
        metavar="MODEL",
        help="e5, which knows a hundred languages; the folder of an ONNX model; hub:OWNER/NAME of "
        "the Hugging Face Hub; or http(s)://HOST/v1#NAME, a model on a server, to which all texts "
        "are sent.",
    ),
]

Search = Annotated[
    Literal["both", "words"],
    typer.Option(
        "--search",
        help="Rank by words and meaning, if search by meaning is on; or by words only.",
    ),
]

Filters = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        metavar="CONDITION",
        autocompletion=conditions,
        help="Only what meets a condition: FIELD=VALUE, FIELD!=VALUE, FIELD=A|B, FIELD^=PREFIX, "
        "FIELD>=MIN, FIELD<=MAX or FIELD=*; repeatable, and all must match.",
    ),
]

CollectionName = Annotated[
    str | None,
    typer.Option(
        "--collection",
        "-c",
        metavar="NAME",
        autocompletion=collections,
        help="Only documents of this collection; see idx collections.",
    ),
]

Yes = Annotated[
    bool, typer.Option("--yes", "-y", help="Skip the confirmation; required without a terminal.")
]

Include = Annotated[
    list[str] | None,
    typer.Option(
        "--include",
        envvar=VARIABLES["include"],
        metavar="GLOB",
        help="Index only matching files in folders; repeatable.",
    ),
]

Exclude = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude",
        envvar=VARIABLES["exclude"],
        metavar="GLOB",
        help="Skip matching files and subfolders in folders; repeatable.",
    ),
]

Hidden = Annotated[
    bool,
    typer.Option(
        "--hidden/--no-hidden",
        envvar=VARIABLES["hidden"],
        help="Index hidden files and folders, whose names begin with a dot.",
    ),
]

FollowLinks = Annotated[
    bool,
    typer.Option(
        "--follow-links/--no-follow-links",
        envvar=VARIABLES["follow_links"],
        help="Follow symbolic links in folders.",
    ),
]

AllowSecrets = Annotated[
    list[Path] | None,
    typer.Option(
        "--allow-secret",
        envvar=VARIABLES["allow_secrets"],
        metavar="PATH",
        readable=False,
        help="Index this file although it is a secret or seems to contain one; repeatable.",
    ),
]

MaxSize = Annotated[
    float,
    typer.Option(
        "--max-size",
        envvar=VARIABLES["max_size"],
        min=0,
        metavar="MB",
        help="Maximum size of a file; larger files are not read.",
    ),
]

MaxRows = Annotated[
    int,
    typer.Option(
        "--max-rows",
        envvar=VARIABLES["max_rows"],
        min=1,
        max=MAX_COUNT,
        metavar="ROWS",
        help="Maximum number of rows read of each sheet and CSV file.",
    ),
]

Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        envvar=VARIABLES["encoding"],
        metavar="NAME",
        help="Encoding of text files, such as cp1252; detected by default.",
    ),
]

LayoutOption = Annotated[
    Layout | None,
    typer.Option(
        "--layout",
        envvar=VARIABLES["layout"],
        help="White space in chunks: keep it, which is the default for files and folders, or join "
        "the words by single spaces, which is the default for single documents and idx bulk.",
    ),
]

PdfEngine = Annotated[
    PdfEngineName,
    typer.Option(
        "--pdf-engine",
        envvar=VARIABLES["pdf_engine"],
        help="PDF engine; auto uses pdfplumber for pages with ruled tables, and PDFium for all "
        "others.",
    ),
]

PdfPassword = Annotated[
    str | None,
    typer.Option(
        "--pdf-password",
        envvar=VARIABLES["pdf_password"],
        metavar="PASSWORD",
        help="Password of encrypted PDFs; use the variable to hide it from other users.",
    ),
]

OcrOption = Annotated[
    OcrMode,
    typer.Option(
        "--ocr",
        envvar=VARIABLES["ocr"],
        help="Read pages without text by Tesseract, if it is installed (auto), none (off), or all "
        "pages, and pictures (force).",
    ),
]

OcrLanguages = Annotated[
    str | None,
    typer.Option(
        "--ocr-languages",
        envvar=VARIABLES["ocr_languages"],
        metavar="CODES",
        help="Languages for --ocr as Tesseract names them, such as deu+eng; by default those of "
        "the folder's documents, or up to five of those installed.",
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
        help="Number of processes that read files; one per core by default.",
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
        help="Maximum time to read one file.",
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
        help="Maximum memory of each process that reads files.",
    ),
]

Normalize = Annotated[
    bool,
    typer.Option(
        "--normalize/--no-normalize",
        envvar=VARIABLES["normalize"],
        help="Have a language model rewrite the query in English, and search for both.",
    ),
]

NormalizerModel = Annotated[
    str | None,
    typer.Option(
        "--normalizer-model",
        envvar=VARIABLES["normalizer_model"],
        metavar="NAME",
        help="Name of the language model on its server.",
    ),
]

NormalizerUrl = Annotated[
    str,
    typer.Option(
        "--normalizer-url",
        envvar=VARIABLES["normalizer_url"],
        metavar="URL",
        help="URL of the language model's server, which has an OpenAI-compatible API.",
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
        help="Maximum time to wait for the language model.",
    ),
]

AnswerModel = Annotated[
    str | None,
    typer.Option(
        "--model",
        envvar=VARIABLES["answer_model"],
        metavar="NAME",
        help="Language model: its name on its server, or PROVIDER:NAME.",
    ),
]

AnswerUrl = Annotated[
    str | None,
    typer.Option(
        "--model-url",
        envvar=VARIABLES["answer_url"],
        metavar="URL",
        help="URL of the language model's server, which has an OpenAI-compatible API; by default "
        "the provider's, or Ollama's on this machine.",
    ),
]

AnswerTimeout = Annotated[
    float,
    typer.Option(
        "--model-timeout",
        envvar=VARIABLES["answer_timeout"],
        min=MIN_TIMEOUT,
        max=MAX_ANSWER_TIMEOUT,
        metavar="SECONDS",
        help="Maximum time to wait for the whole answer of the language model.",
    ),
]

AnswerMaxTokens = Annotated[
    int,
    typer.Option(
        "--max-tokens",
        envvar=VARIABLES["answer_max_tokens"],
        min=MIN_ANSWER_MAX_TOKENS,
        max=MAX_ANSWER_MAX_TOKENS,
        metavar="N",
        help="Maximum length of an answer, with its quotes and the model's reasoning.",
    ),
]

__all__ = [
    "DEFAULT_INDEX_PATH",
    "AllowSecrets",
    "AnswerMaxTokens",
    "AnswerModel",
    "AnswerTimeout",
    "AnswerUrl",
    "Encoding",
    "Exclude",
    "FollowLinks",
    "Hidden",
    "Include",
    "IndexPath",
    "Json",
    "LayoutOption",
    "MaxMemory",
    "MaxRows",
    "MaxSize",
    "Normalize",
    "NormalizerModel",
    "NormalizerTimeout",
    "NormalizerUrl",
    "OcrLanguages",
    "OcrOption",
    "PdfEngine",
    "PdfPassword",
    "Plain",
    "Timeout",
    "Wait",
    "Workers",
    "Yes",
]
