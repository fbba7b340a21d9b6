"""A command whose options have the configuration file's values as their defaults."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from math import isfinite
from typing import Any

import typer
from typer.core import TyperCommand

from idx.configuration.recent_indexes import DefaultIndexMissingError, note_use, recent_indexes
from idx.output.printing import warn
from shared.errors import IndexMissingError, McpLuceneError
from shared.messages import did_you_mean
from shared.settings.current import configuration_file, configured
from shared.settings.defaults import (
    CONFIGURATION_VARIABLE,
    NORMALIZER_API_KEY_VARIABLE,
    TOKENS_VARIABLE,
    VARIABLES,
)


class _ConfiguredContext(typer.Context):
    """Looks an option up in the file that stands on no command line and in no variable."""

    def lookup_default(self, name: str, call: bool = True) -> Any:  # noqa: ARG002 - the library's
        """The file's value for an option; None if the built-in default holds.

        Args:
            name: the option's parameter.
            call: whether a function is called for its value; there is none here.

        Raises:
            ConfigurationError: the file cannot be read, or something in it is wrong.
        """
        # Help and completion ask, too: they show what is built in, whatever the file holds.
        if self.resilient_parsing or name not in VARIABLES:
            return None
        return configured(name)


class ConfiguredCommand(TyperCommand):
    """A command of idx that works with settings.

    An option whose parameter is named as a setting gets its value from the command line, else
    from the option's variable, else from the configuration file, else from the command's default.
    """

    context_class = _ConfiguredContext

    def invoke(self, ctx: Any) -> Any:
        """Run the command, after a warning about settings that have no effect.

        Raises:
            BadParameter: a number is not finite, which no bound of an option excludes.
        """
        for parameter in self.get_params(ctx):
            value = ctx.params.get(parameter.name)
            if isinstance(value, float) and not isfinite(value):
                raise typer.BadParameter(f"{value} is not finite", ctx=ctx, param=parameter)
        for warning in warnings_of_variables():
            warn(warning)
        if "index_path" not in ctx.params:
            return super().invoke(ctx)
        with _index_in_use(ctx):
            return super().invoke(ctx)


@contextmanager
def _index_in_use(ctx: typer.Context) -> Iterator[None]:
    """Note the index that a command has used, and name others where the default one is missing."""
    is_opened = True
    try:
        yield
    except McpLuceneError as error:
        is_opened = False
        source = ctx.get_parameter_source("index_path")
        is_default = source is not None and source.name == "DEFAULT"
        recent = recent_indexes() if is_default and isinstance(error, IndexMissingError) else []
        if isinstance(error, IndexMissingError) and recent:
            raise DefaultIndexMissingError(error, recent, str(ctx.info_name)) from error
        raise
    finally:
        # Also after Ctrl-C, which is how a watch ends, and an exit code of 1.
        if is_opened:
            note_use(ctx.params["index_path"])


def warnings_of_variables() -> Iterator[str]:
    """What is wrong with variables of the environment that nobody would notice otherwise."""
    known = {
        *VARIABLES.values(),
        CONFIGURATION_VARIABLE,
        NORMALIZER_API_KEY_VARIABLE,
        TOKENS_VARIABLE,
    }
    for name in sorted(name for name in os.environ if name.startswith("IDX_")):
        # A name that is unlike all of them belongs to another program.
        if name not in known and (hint := did_you_mean(name, known, "", cutoff=0.8)):
            yield f"{name} is not a setting and has no effect; {hint}"
    if os.environ.get(CONFIGURATION_VARIABLE) and not os.path.lexists(file := configuration_file()):
        yield f"{CONFIGURATION_VARIABLE} names {file}, which does not exist"
