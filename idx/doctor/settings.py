"""Checks of the configuration file, the environment variables and the index path."""

import os
from pathlib import Path

from idx.cli.configured_command import warnings_of_variables
from idx.doctor.finding import Finding, Findings
from shared.backends import location
from shared.errors import ConfigurationError
from shared.installation import upgrade_command
from shared.settings.current import configuration_file, configured
from shared.settings.defaults import DEFAULT_INDEX_PATH, VARIABLES
from shared.version import software_version


def settings() -> Findings:
    """Check whether the configuration is valid."""
    from shared.settings.current import settings as all_settings
    from shared.settings.file import NOT_A_SETTING

    for warning in warnings_of_variables():
        yield Finding("Variables", "warning", warning)
    file = configuration_file()
    try:
        origins = [setting.origin for setting in all_settings()]
    except ConfigurationError as error:
        newer = (
            f"; if a newer mcp-lucene than {software_version()} wrote it, upgrade: "
            f"{upgrade_command()}"
        )
        helps = newer if NOT_A_SETTING in str(error) else ""
        yield Finding("Configuration", "problem", f"{error}; fix it, or remove it{helps}")
        return
    where = f"{file} sets {origins.count(str(file))} of {len(origins)} settings"
    if not file.exists():
        where = f"no file {file}; the defaults hold"
    variables = [origin for origin in origins if origin in VARIABLES.values()]
    set_there = f"; the environment sets {', '.join(variables)}" if variables else ""
    yield Finding("Configuration", "ok", where + set_there)


def index_path(named: Path | None) -> Path:
    """Return the absolute path of the index that commands use by default.

    Args:
        named: the path from the command line or the environment.
    """
    path = named
    if path is None:
        try:
            path = configured("index_path")
        except ConfigurationError:
            # Reported by `settings`; the remaining checks use the default.
            path = None
    return location(os.path.normpath(path or DEFAULT_INDEX_PATH))
