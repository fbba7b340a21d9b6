"""Configuration file: lock, text and replacement."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from idx.output.printing import warn
from shared.errors import ConfigurationError
from shared.files import content
from shared.messages import reason_of
from shared.settings.defaults import VARIABLES


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Lock the file against changes by other programs, creating its folder if necessary.

    Raises:
        ConfigurationError: the folder cannot be created or opened.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(content.locked(file))
        except OSError as error:
            raise _not_written(file, error) from error
        yield


def text_of(file: Path) -> str:
    """Return the text of the file, ending with a newline; empty if the file does not exist.

    The file must be readable by `shared.settings.file`.
    """
    if not file.exists():
        return ""
    text = file.read_bytes().decode("utf-8-sig")
    return text if text.endswith("\n") else f"{text}\n"


def write(file: Path, text: str) -> None:
    """Replace the text of the file atomically.

    Raises:
        ConfigurationError: the file cannot be written, or the text is not valid Unicode.
    """
    try:
        content.write_atomically(file, text.encode())
    except UnicodeEncodeError as error:
        raise ConfigurationError(file, "cannot hold a path that is not UTF-8") from error
    except OSError as error:
        raise _not_written(file, error) from error


def warn_of_variable(setting: str, file: Path, what: str | None = None) -> None:
    """Warn if an environment variable overrides a setting of the file.

    Args:
        setting: the setting.
        file: the configuration file.
        what: a description of the setting; None for its name.
    """
    variable = VARIABLES[setting]
    if os.environ.get(variable):
        warn(f"{variable} is set and overrides {what or setting} in {file}")


def _not_written(file: Path, error: OSError) -> ConfigurationError:
    return ConfigurationError(file, f"cannot be written: {reason_of(error)}")
