"""Settings from environment variables."""

import os
from collections.abc import Callable
from typing import Any, Final

from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from shared.settings.model import Settings


def _paths(text: str) -> list[str]:
    return [os.path.abspath(path) for path in text.split(os.pathsep) if path]  # noqa: PTH100 - no link is resolved


def _folders(text: str) -> list[dict[str, str]]:
    return [{"path": path} for path in _paths(text)]


_LIST_PARSERS: Final[dict[str, Callable[[str], object]]] = {
    "folders": _folders,
    "include": str.split,
    "exclude": str.split,
    "allow_secrets": _paths,
    "originals": _paths,
}
"""Parsers of variables with several values: paths are separated as in PATH, patterns by blanks."""


class _Variables(EnvSettingsSource):
    """Source of settings with lists as people write them in a variable, not as JSON."""

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:
        split = _LIST_PARSERS.get(field_name)
        return split(value) if split else super().decode_complex_value(field_name, field, value)


class EnvironmentSettings(Settings, BaseSettings):
    """Settings from environment variables; all others keep their defaults, not marked as set."""

    model_config = SettingsConfigDict(
        env_prefix="IDX_", env_ignore_empty=True, validate_default=False
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the signature is the library's
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Use the variables only, not the ``.env`` of the current folder, which may be anyone's."""
        return (_Variables(settings_cls),)
