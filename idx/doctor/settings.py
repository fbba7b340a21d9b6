"""The configuration file, the variables of the environment, and the index path they name."""

import os
from pathlib import Path

from idx.cli.configured_command import warnings_of_variables
from idx.doctor.finding import Finding, Findings
from shared.errors import ConfigurationError
from shared.settings.current import configuration_file, configured
from shared.settings.defaults import DEFAULT_INDEX_PATH, VARIABLES


def settings() -> Findings:
    """Whether what is configured can be used."""
    from shared.settings.current import settings as all_settings

    for warning in warnings_of_variables():
        yield Finding("Variables", "warning", warning)
    file = configuration_file()
    try:
        origins = [setting.origin for setting in all_settings()]
    except ConfigurationError as error:
        yield Finding("Configuration", "problem", f"{error}; fix it, or remove it")
        return
    where = f"{file} sets {origins.count(str(file))} of {len(origins)} settings"
    if not file.exists():
        where = f"no file {file}; the defaults hold"
    variables = [origin for origin in origins if origin in VARIABLES.values()]
    set_there = f"; the environment sets {', '.join(variables)}" if variables else ""
    yield Finding("Configuration", "ok", where + set_there)


def index_path(named: Path | None) -> Path:
    """The index folder that commands without an option would use, absolute.

    Args:
        named: the one on the command line or in the environment.
    """
    path = named
    if path is None:
        try:
            path = configured("index_path")
        except ConfigurationError:
            # Told by `settings`; what else is wrong is found on the default.
            path = None
    return Path(os.path.abspath(path or DEFAULT_INDEX_PATH))  # noqa: PTH100 - no link is resolved
