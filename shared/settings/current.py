"""The settings in effect: environment variables take precedence over the configuration file.

Importing this module is light: pydantic, which takes a tenth of a second, is imported only if there
is something to read.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shared.errors import ConfigurationError
from shared.settings import defaults

if TYPE_CHECKING:
    from shared.settings.model import CollectionSetting, Folder


def java_heap() -> int:
    """Return the size of Java's heap in MiB: from the variable, the file, or the default."""
    variable = defaults.VARIABLES["java_heap"]
    text = os.environ.get(variable)
    if not text:
        return configured("java_heap") or defaults.default_java_heap()
    # Parsed without pydantic, which takes a tenth of a second: every command needs this setting.
    with suppress(ValueError):
        if defaults.MIN_JAVA_HEAP <= (heap := int(text)) <= defaults.MAX_JAVA_HEAP:
            return heap
    raise ConfigurationError(
        "the environment",
        f"{variable}: the value should be a whole number from {defaults.MIN_JAVA_HEAP} to "
        f"{defaults.MAX_JAVA_HEAP:,} (it is {text[:80]!r})",
    )


def sentence_model() -> str | None:
    """Return the sentence model that is set, ``off`` for none; None if it is not set."""
    return os.environ.get(defaults.VARIABLES["semantic"]) or configured("semantic")


def configuration_file() -> Path:
    """Return the path of the configuration file, which may not exist."""
    named = os.environ.get(defaults.CONFIGURATION_VARIABLE)
    if named:
        return Path(os.path.expanduser(named)).absolute()  # noqa: PTH111 - Path.expanduser may fail
    from platformdirs import user_config_path

    return user_config_path("mcp-lucene", appauthor=False) / "config.toml"


def configured(setting: str) -> Any:
    """Return the value of a setting in the configuration file; None if it is not set there."""
    file = configuration_file()
    try:
        file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        # It is read anyway, which reports the error.
        pass
    from shared.settings.file import value_in_file

    return value_in_file(file, setting)


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting in effect for commands without options."""

    name: str
    value: Any
    origin: str


def settings() -> list[Setting]:
    """Return every setting; environment variables take precedence over the configuration file."""
    from shared.settings.file import read, read_environment

    file = configuration_file()
    in_file, in_environment = read(file), read_environment()

    def setting(name: str, variable: str) -> Setting:
        if name in in_environment.model_fields_set:
            return Setting(name, getattr(in_environment, name), variable)
        origin = str(file) if name in in_file.model_fields_set else "default"
        return Setting(name, getattr(in_file, name), origin)

    return [setting(name, variable) for name, variable in defaults.VARIABLES.items()]


def remembered_folders() -> list["Folder"]:
    """Return the folders for commands that are given none; raises as `settings`."""
    return _listed("folders")


def collection_settings() -> list["CollectionSetting"]:
    """Return the collections as they are configured; raises as `settings`."""
    return _listed("collections")


def original_folders() -> list[Path]:
    """Return the folders whose files may be handed out, whoever indexed them; as `settings`."""
    return _listed("originals")


def _listed(name: str) -> list[Any]:
    if not os.environ.get(defaults.VARIABLES[name]):
        return configured(name) or []
    from shared.settings.file import read_environment

    found: list[Any] = getattr(read_environment(), name)
    return found
