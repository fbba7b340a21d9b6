"""Groups of options shared by several commands, declared as the fields of a dataclass."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any, TypeVar

from idx.cli.options import (
    AllowSecrets,
    AnswerMaxTokens,
    AnswerModel,
    AnswerTimeout,
    AnswerUrl,
    Encoding,
    Exclude,
    FollowLinks,
    Hidden,
    Include,
    LayoutOption,
    MaxMemory,
    MaxRows,
    MaxSize,
    Normalize,
    NormalizerModel,
    NormalizerTimeout,
    NormalizerUrl,
    OcrLanguages,
    OcrOption,
    PdfEngine,
    PdfPassword,
    Timeout,
    Workers,
)
from shared.settings.defaults import (
    DEFAULT_ANSWER_MAX_TOKENS,
    DEFAULT_ANSWER_TIMEOUT,
    DEFAULT_MAX_MEGABYTES,
    DEFAULT_MAX_MEMORY,
    DEFAULT_MAX_ROWS,
    DEFAULT_NORMALIZER_TIMEOUT,
    DEFAULT_NORMALIZER_URL,
    DEFAULT_OCR,
    DEFAULT_PDF_ENGINE,
    DEFAULT_TIMEOUT,
)

Options = TypeVar("Options")


def takes(
    group: type[Options], parameter: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that gives a command the fields of a dataclass as options.

    Args:
        group: a dataclass whose fields are annotated as options of typer.
        parameter: the parameter of the command that receives an instance of it.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        names = [field.name for field in fields(group)]  # type: ignore[arg-type]  # a dataclass

        @wraps(command)
        def run(**arguments: Any) -> None:
            options = group(**{name: arguments.pop(name) for name in names})
            command(**arguments, **{parameter: options})

        own = inspect.signature(command).parameters
        parameters = []
        for name, each in own.items():
            if name == parameter:
                parameters += _keywords(group)
            else:
                parameters.append(each.replace(kind=inspect.Parameter.KEYWORD_ONLY))
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # PEP 362
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return run

    return decorate


def _keywords(group: type[Options]) -> list[inspect.Parameter]:
    """Return the fields of a dataclass as keyword-only parameters."""
    signature = inspect.signature(group)
    return [
        each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in signature.parameters.values()
    ]


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """Options for reading files; each is also a setting of the configuration file."""

    include: Include = None
    exclude: Exclude = None
    hidden: Hidden = False
    follow_links: FollowLinks = False
    allow_secrets: AllowSecrets = None
    max_size: MaxSize = DEFAULT_MAX_MEGABYTES
    max_rows: MaxRows = DEFAULT_MAX_ROWS
    encoding: Encoding = None
    layout: LayoutOption = None
    pdf_engine: PdfEngine = DEFAULT_PDF_ENGINE
    pdf_password: PdfPassword = None
    ocr: OcrOption = DEFAULT_OCR
    ocr_languages: OcrLanguages = None
    workers: Workers = None
    timeout: Timeout = DEFAULT_TIMEOUT
    max_memory: MaxMemory = DEFAULT_MAX_MEMORY


@dataclass(frozen=True, slots=True)
class RewritingOptions:
    """Options for rewriting queries; each is also a setting of the configuration file."""

    normalize: Normalize = False
    normalizer_model: NormalizerModel = None
    normalizer_url: NormalizerUrl = DEFAULT_NORMALIZER_URL
    normalizer_timeout: NormalizerTimeout = DEFAULT_NORMALIZER_TIMEOUT


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """Options for answering questions; each is also a setting of the configuration file."""

    answer_model: AnswerModel = None
    answer_url: AnswerUrl = None
    answer_timeout: AnswerTimeout = DEFAULT_ANSWER_TIMEOUT
    answer_max_tokens: AnswerMaxTokens = DEFAULT_ANSWER_MAX_TOKENS
