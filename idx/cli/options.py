"""Options shared by commands, one by one or in groups.

The defaults are the built-in ones; `idx.cli.configured_command` supplies the values of the
configuration file.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

import typer
from typer.models import TyperPath

from idx.cli.configured_command import collections, conditions
from shared.files.index_folder import index_path
from shared.model.request import MAX_DAYS
from shared.settings import defaults
from shared.settings.defaults import Layout, OcrMode, PdfEngineName

DEFAULT_INDEX_PATH: Final = defaults.DEFAULT_INDEX_PATH


class GivenPath(TyperPath):
    """Type of paths on the command line; an empty one would stand for the current folder."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if value == "":
            self.fail("the path is empty; the current folder is .", param, ctx)
        return super().convert(value, param, ctx)


# An unreadable file or index is an error with exit code 1 instead of 2.
PATH: Final = GivenPath(readable=False)

_DAYS_OF: Final = {"d": 1, "w": 7, "m": 365.25 / 12, "y": 365.25}


def days(text: str) -> float:
    """Return an age such as ``180d``, ``26w``, ``6m`` or ``2y`` in days, up to a hundred years."""
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


_NUMBERS: Final[dict[str, tuple[str, float, float | None]]] = {
    "wait": ("SECONDS", 0, None),
    "max_size": ("MB", 0, None),
    "max_rows": ("ROWS", 1, defaults.MAX_COUNT),
    "workers": ("N", 1, defaults.MAX_WORKERS),
    "timeout": ("SECONDS", defaults.MIN_TIMEOUT, defaults.MAX_TIMEOUT),
    "max_memory": ("MB", defaults.MIN_MEMORY, defaults.MAX_MEMORY),
    "normalizer_timeout": (
        "SECONDS",
        defaults.MIN_NORMALIZER_TIMEOUT,
        defaults.MAX_NORMALIZER_TIMEOUT,
    ),
    "answer_timeout": ("SECONDS", defaults.MIN_TIMEOUT, defaults.MAX_ANSWER_TIMEOUT),
    "answer_max_tokens": ("N", defaults.MIN_ANSWER_MAX_TOKENS, defaults.MAX_ANSWER_MAX_TOKENS),
}
"""Unit, minimum and maximum of the settings that are numbers."""


def _setting(name: str, help_: str, *flags: str, **more: Any) -> Any:
    """Declare the option of a setting, which an environment variable and the file have, too."""
    if name in _NUMBERS:
        more["metavar"], more["min"], more["max"] = _NUMBERS[name]
    return typer.Option(*flags, envvar=defaults.VARIABLES[name], help=help_, **more)


IndexPath = Annotated[
    Path,
    _setting(
        "index_path",
        "Index folder, or opensearch://HOST:PORT/NAME for an index on a cluster.",
        "--index-path",
        "-i",
        metavar="PATH",
        click_type=PATH,
        callback=index_path,
    ),
]

Json = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON; messages go to stderr.")
]

Plain = Annotated[
    bool,
    typer.Option(
        "--plain", help="Print only one path per line, or the id of a document without a file."
    ),
]

Wait = Annotated[
    float, _setting("wait", "Maximum time to wait for another writer to release the index.")
]

VectorsChoice = Literal["now", "later", "off"]

Vectors = Annotated[
    VectorsChoice,
    typer.Option(
        help="For search by meaning: embed what was added now, or leave it to idx semantic update. "
        "A new index gets no vectors at all with off."
    ),
]

SentenceModel = Annotated[
    str,
    _setting(
        "semantic",
        "e5, which knows a hundred languages; english, which knows that one better; the folder of "
        "an ONNX model; hub:OWNER/NAME of the Hugging Face Hub; or http(s)://HOST/v1#NAME, a model "
        "on a server, to which all texts are sent.",
        "--model",
        metavar="MODEL",
    ),
]

Search = Annotated[
    Literal["both", "words"],
    typer.Option(
        "--search", help="Rank by words and meaning, if search by meaning is on; or by words only."
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

LayoutOption = Annotated[
    Layout | None,
    _setting(
        "layout",
        "White space in chunks: keep it, which is the default for files and folders, or join "
        "the words by single spaces, which is the default for single documents and idx bulk.",
    ),
]


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """Options for reading files; each is also a setting of the configuration file."""

    include: Annotated[
        list[str] | None,
        _setting("include", "Index only matching files in folders; repeatable.", metavar="GLOB"),
    ] = None
    exclude: Annotated[
        list[str] | None,
        _setting(
            "exclude", "Skip matching files and subfolders in folders; repeatable.", metavar="GLOB"
        ),
    ] = None
    hidden: Annotated[
        bool, _setting("hidden", "Index hidden files and folders, whose names begin with a dot.")
    ] = False
    follow_links: Annotated[bool, _setting("follow_links", "Follow symbolic links in folders.")] = (
        False
    )
    allow_secrets: Annotated[
        list[Path] | None,
        _setting(
            "allow_secrets",
            "Index this file although it is a secret or seems to contain one; repeatable.",
            "--allow-secret",
            metavar="PATH",
            click_type=PATH,
        ),
    ] = None
    max_size: Annotated[
        float, _setting("max_size", "Maximum size of a file; larger files are not read.")
    ] = defaults.DEFAULT_MAX_MEGABYTES
    max_rows: Annotated[
        int, _setting("max_rows", "Maximum number of rows read of each sheet and CSV file.")
    ] = defaults.DEFAULT_MAX_ROWS
    encoding: Annotated[
        str | None,
        _setting(
            "encoding",
            "Encoding of text files, such as cp1252; detected by default.",
            metavar="NAME",
        ),
    ] = None
    layout: LayoutOption = None
    pdf_engine: Annotated[
        PdfEngineName,
        _setting(
            "pdf_engine",
            "PDF engine; auto uses pdfplumber for pages with ruled tables, and PDFium for all "
            "others.",
        ),
    ] = defaults.DEFAULT_PDF_ENGINE
    pdf_password: Annotated[
        str | None,
        _setting(
            "pdf_password",
            "Password of encrypted PDFs; use the variable to hide it from other users.",
            metavar="PASSWORD",
        ),
    ] = None
    ocr: Annotated[
        OcrMode,
        _setting(
            "ocr",
            "Read pages without text by Tesseract, if it is installed (auto), none (off), or all "
            "pages, and pictures (force).",
        ),
    ] = defaults.DEFAULT_OCR
    ocr_languages: Annotated[
        str | None,
        _setting(
            "ocr_languages",
            "Languages for --ocr as Tesseract names them, such as deu+eng; by default up to "
            "five of those installed.",
            metavar="CODES",
        ),
    ] = None
    workers: Annotated[
        int | None,
        _setting("workers", "Number of processes that read files; one per core by default."),
    ] = None
    timeout: Annotated[float, _setting("timeout", "Maximum time to read one file.")] = (
        defaults.DEFAULT_TIMEOUT
    )
    max_memory: Annotated[
        int, _setting("max_memory", "Maximum memory of each process that reads files.")
    ] = defaults.DEFAULT_MAX_MEMORY


@dataclass(frozen=True, slots=True)
class RewritingOptions:
    normalize: Annotated[
        bool,
        _setting(
            "normalize", "Have a language model rewrite the query in English, and search for both."
        ),
    ] = False
    normalizer_model: Annotated[
        str | None,
        _setting("normalizer_model", "Name of the language model on its server.", metavar="NAME"),
    ] = None
    normalizer_url: Annotated[
        str,
        _setting(
            "normalizer_url",
            "URL of the language model's server, which has an OpenAI-compatible API.",
            metavar="URL",
        ),
    ] = defaults.DEFAULT_NORMALIZER_URL
    normalizer_timeout: Annotated[
        float, _setting("normalizer_timeout", "Maximum time to wait for the language model.")
    ] = defaults.DEFAULT_NORMALIZER_TIMEOUT


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    answer_model: Annotated[
        str | None,
        _setting(
            "answer_model",
            "Language model: its name on its server, or PROVIDER:NAME.",
            "--model",
            metavar="NAME",
        ),
    ] = None
    answer_url: Annotated[
        str | None,
        _setting(
            "answer_url",
            "URL of the language model's server, which has an OpenAI-compatible API; by default "
            "the provider's, or Ollama's on this machine.",
            "--model-url",
            metavar="URL",
        ),
    ] = None
    answer_timeout: Annotated[
        float,
        _setting(
            "answer_timeout",
            "Maximum time to wait for the whole answer of the language model.",
            "--model-timeout",
        ),
    ] = defaults.DEFAULT_ANSWER_TIMEOUT
    answer_max_tokens: Annotated[
        int,
        _setting(
            "answer_max_tokens",
            "Maximum length of an answer, with its quotes and the model's reasoning.",
            "--max-tokens",
        ),
    ] = defaults.DEFAULT_ANSWER_MAX_TOKENS


Options = TypeVar("Options")


def takes(
    group: type[Options], parameter: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the fields of a dataclass as options, and an instance of it as a parameter."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        fields = inspect.signature(group).parameters

        @wraps(command)
        def run(**arguments: Any) -> None:
            options = group(**{name: arguments.pop(name) for name in fields})
            command(**arguments, **{parameter: options})

        parameters = []
        for name, each in inspect.signature(command).parameters.items():
            taken = fields.values() if name == parameter else [each]
            parameters += [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in taken]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # PEP 362
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return run

    return decorate
