"""Command class whose options take their defaults from the configuration file."""

import os
from collections.abc import Iterator
from math import isfinite
from typing import Any

import typer
from typer.core import TyperCommand

from idx.output.printing import warn
from shared.messages import did_you_mean
from shared.settings.current import configuration_file, configured
from shared.settings.defaults import (
    CONFIGURATION_VARIABLE,
    KEY_VARIABLES,
    MODEL_CACHE_VARIABLE,
    OPENSEARCH_VARIABLES,
    TOKENS_VARIABLE,
    VARIABLES,
)


class _ConfiguredContext(typer.Context):
    """Context that looks up options in the file if they are neither given nor set by a variable."""

    def lookup_default(self, name: str, call: bool = True) -> Any:  # noqa: ARG002 - library API
        """Return the file's value of an option; None for the built-in default.

        Args:
            name: the parameter of the option.
            call: whether to call a function for the value; unused, because no value is a function.

        Raises:
            ConfigurationError: the file cannot be read or is invalid.
        """
        # Help and completion also look up defaults; they use the built-in ones, whatever the file
        # says.
        if self.resilient_parsing or name not in VARIABLES:
            return None
        return configured(name)


class ConfiguredCommand(TyperCommand):
    """Command of idx that uses settings.

    An option whose parameter is named like a setting takes its value from the command line, then
    the option's environment variable, then the configuration file, then the command's default.
    """

    context_class = _ConfiguredContext

    def invoke(self, ctx: Any) -> Any:
        """Run the command, after warnings about settings without effect.

        Raises:
            BadParameter: a number is not finite, which the bounds of an option do not exclude.
        """
        for parameter in self.get_params(ctx):
            value = ctx.params.get(parameter.name)
            if isinstance(value, float) and not isfinite(value):
                raise typer.BadParameter(f"{value} is not finite", ctx=ctx, param=parameter)
        for warning in warnings_of_variables():
            warn(warning)
        return super().invoke(ctx)


def warnings_of_variables() -> Iterator[str]:
    """Yield warnings about environment variables that would silently have no effect."""
    known = {
        *VARIABLES.values(),
        CONFIGURATION_VARIABLE,
        *KEY_VARIABLES.values(),
        *OPENSEARCH_VARIABLES,
        MODEL_CACHE_VARIABLE,
        TOKENS_VARIABLE,
    }
    for name in sorted(name for name in os.environ if name.startswith("IDX_")):
        # A name that resembles none of them belongs to another program.
        if name not in known and (hint := did_you_mean(name, known, "", cutoff=0.8)):
            yield f"{name} is not a setting and has no effect; {hint}"
    if os.environ.get(CONFIGURATION_VARIABLE) and not os.path.lexists(file := configuration_file()):
        yield f"{CONFIGURATION_VARIABLE} names {file}, which does not exist"
