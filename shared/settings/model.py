"""All settings with their types and bounds."""

import re
from typing import Annotated, Any, Final, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    model_validator,
)
from pydantic_core import PydanticCustomError

from shared.settings import defaults
from shared.settings.types import Address, EncodingName, LocatedPath, SentenceModelName


class Folder(BaseModel):
    """A folder that idx sync and idx watch mirror in the index."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: LocatedPath
    include: list[str] = []
    exclude: list[str] = []


def _as_table(value: Any) -> Any:
    """Return a folder as a table; it may be given as its path only."""
    if not isinstance(value, str | dict):
        raise PydanticCustomError(
            "value", "the value should be a path, in quotes, or a table with a path"
        )
    return {"path": value} if isinstance(value, str) else value


FolderValue = Annotated[Folder, BeforeValidator(_as_table)]
"""Folder, or its path only."""


def _as_line(text: str) -> str:
    return " ".join(text.split())


def _as_name(text: str) -> str:
    """Return the name of a collection if it is one."""
    if not re.fullmatch(defaults.COLLECTION_NAME_PATTERN, text):
        raise PydanticCustomError(
            "value",
            "the value should be a name of at most 60 letters, digits, dots, hyphens and "
            "underscores that begins with a letter or digit",
        )
    return text


class CollectionSetting(BaseModel):
    """A part of the index that has a name."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, AfterValidator(_as_name)]
    description: Annotated[
        str, Field(max_length=defaults.MAX_DESCRIPTION_CHARACTERS), AfterValidator(_as_line)
    ] = ""
    folder: LocatedPath | None = None
    filters: list[str] = []

    @model_validator(mode="after")
    def _selects(self) -> Self:
        if self.folder is None and not self.filters:
            raise PydanticCustomError(
                "value", "a collection needs a folder or filters that choose its documents"
            )
        return self


def _with_distinct_names(collections: list[CollectionSetting]) -> list[CollectionSetting]:
    names = [collection.name for collection in collections]
    if len(set(names)) < len(names):
        raise PydanticCustomError("value", "two collections have the same name")
    return collections


_NOT_NEGATIVE: Final = Field(ge=0, allow_inf_nan=False)


class Settings(BaseModel):
    """All settings; docs/configuration.md describes each of them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    index_path: LocatedPath = defaults.DEFAULT_INDEX_PATH
    wait: Annotated[float, _NOT_NEGATIVE] = defaults.DEFAULT_WAIT
    folders: list[FolderValue] = []
    collections: Annotated[
        list[CollectionSetting],
        Field(max_length=defaults.MAX_COLLECTIONS),
        AfterValidator(_with_distinct_names),
    ] = []
    include: list[str] = []
    exclude: list[str] = []
    hidden: bool = False
    follow_links: bool = False
    allow_secrets: list[LocatedPath] = []
    originals: list[LocatedPath] = []
    max_size: Annotated[float, _NOT_NEGATIVE] = defaults.DEFAULT_MAX_MEGABYTES
    max_rows: int = Field(default=defaults.DEFAULT_MAX_ROWS, ge=1, le=defaults.MAX_COUNT)
    encoding: EncodingName | None = None
    layout: defaults.Layout | None = None
    pdf_engine: defaults.PdfEngineName = defaults.DEFAULT_PDF_ENGINE
    pdf_password: SecretStr | None = None
    ocr: defaults.OcrMode = defaults.DEFAULT_OCR
    ocr_languages: Annotated[str, Field(pattern=defaults.OCR_LANGUAGES_PATTERN)] | None = None
    workers: int = Field(default_factory=defaults.default_workers, ge=1, le=defaults.MAX_WORKERS)
    timeout: float = Field(
        default=defaults.DEFAULT_TIMEOUT, ge=defaults.MIN_TIMEOUT, le=defaults.MAX_TIMEOUT
    )
    max_memory: int = Field(
        default=defaults.DEFAULT_MAX_MEMORY, ge=defaults.MIN_MEMORY, le=defaults.MAX_MEMORY
    )
    java_heap: int = Field(
        default_factory=defaults.default_java_heap,
        ge=defaults.MIN_JAVA_HEAP,
        le=defaults.MAX_JAVA_HEAP,
    )
    normalize: bool = False
    normalizer_model: Annotated[str, Field(min_length=1)] | None = None
    normalizer_url: Address = defaults.DEFAULT_NORMALIZER_URL
    normalizer_timeout: float = Field(
        default=defaults.DEFAULT_NORMALIZER_TIMEOUT,
        ge=defaults.MIN_NORMALIZER_TIMEOUT,
        le=defaults.MAX_NORMALIZER_TIMEOUT,
    )
    answer_model: Annotated[str, Field(min_length=1)] | None = None
    answer_url: Address | None = None
    answer_timeout: float = Field(
        default=defaults.DEFAULT_ANSWER_TIMEOUT,
        ge=defaults.MIN_TIMEOUT,
        le=defaults.MAX_ANSWER_TIMEOUT,
    )
    answer_max_tokens: int = Field(
        default=defaults.DEFAULT_ANSWER_MAX_TOKENS,
        ge=defaults.MIN_ANSWER_MAX_TOKENS,
        le=defaults.MAX_ANSWER_MAX_TOKENS,
    )
    semantic: SentenceModelName | None = None
