"""Commands: loaded when they run, with defaults of the configuration file, and completed by Tab."""

import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from idx.output.printing import warn
from shared.errors import McpLuceneError
from shared.messages import did_you_mean, visible
from shared.settings import defaults
from shared.settings.current import collection_settings, configuration_file, configured

if TYPE_CHECKING:
    from shared.reading.catalog import Purpose

_TIMEOUT_SECONDS: Final = 5.0  # for a completion, since the user is waiting

_SAFE: Final = re.compile(r"[\w.@/-]+")  # without a meaning to any shell; no others are offered


def complete(run: Callable[[], None]) -> None:
    """Run the command line as a shell's request for completions, and end in time."""
    # Java and libraries also write to stderr.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    limit = threading.Timer(_TIMEOUT_SECONDS, os._exit, (1,))
    limit.daemon = True
    limit.start()
    try:
        run()
    finally:
        limit.cancel()


def fields(purpose: "Purpose") -> Callable[[typer.Context, str], list[str]]:
    """Return a function that completes names of fields of the index."""

    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        from shared.model.request import BY_SCORE

        names = [BY_SCORE] if purpose == "sort" else []
        return _offered([*names, *_fields_of_index(ctx, purpose)], incomplete)

    return complete


def conditions(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete the field of a condition."""
    names = _offered(_fields_of_index(ctx, "filter"), incomplete)
    # The shell would append a space to a single completion.
    signs = ("=", "!=") if len(names) == 1 else ("=",)
    return [name + sign for name in names for sign in signs]


def collections(incomplete: str) -> list[str]:
    try:
        return _offered((collection.name for collection in collection_settings()), incomplete)
    except McpLuceneError:
        return []


def _fields_of_index(ctx: typer.Context, purpose: "Purpose") -> list[str]:
    """Return fields of the index named on the command line; none if it cannot be read."""
    from shared.reading.searcher import Searcher

    try:
        path = ctx.params["index_path"]
        source = ctx.get_parameter_source("index_path")
        if source is not None and source.name == "DEFAULT":
            path = configured("index_path") or path
        # The shell has not expanded the tilde yet.
        with Searcher(os.path.expanduser(path)) as searcher:  # noqa: PTH111 - Path.expanduser fails without a home
            return searcher.catalog.complete_fields(purpose)
    except McpLuceneError:
        return []


def _offered(names: Iterable[str], typed: str) -> list[str]:
    return [name for name in names if name.startswith(typed) and _SAFE.fullmatch(name)]


_USAGE_ERROR: Final[Any] = typer.BadParameter.__base__
"""The class of all errors of usage, which typer gives no name."""


def _loaded(name: str, place: str, summary: str) -> Any:
    """Return a command, or a group of commands, by its place in `idx.commands`."""
    module, _, attribute = place.partition(":")
    target = getattr(import_module(f"idx.commands.{module}"), attribute)
    application = typer.Typer()
    if isinstance(target, typer.Typer):
        application.add_typer(target, name=name, help=summary, no_args_is_help=True)
    else:
        # The doctor must continue if the settings are invalid.
        kind = TyperCommand if name == "doctor" else ConfiguredCommand
        application.command(name, cls=kind)(target)
    return typer.main.get_group(application).commands[name]


@contextmanager
def _visible_errors() -> Iterator[None]:
    """Have errors of usage quote arguments, such as hostile names of files, visibly."""
    try:
        yield
    except _USAGE_ERROR as error:
        error.message = visible(error.message)
        raise


_ONLY_SUMMARIES: Final = "only summaries"  # in a context that lists commands


def command_group(entries: Mapping[str, tuple[str, str]]) -> type[TyperGroup]:
    """Return a group class with the commands of a table, in its order, before all others.

    An entry is the place of a command and its summary, which is enough for help and completion; the
    command is loaded when it is looked up for anything else.
    """

    class CommandGroup(TyperGroup):
        def __init__(self, *, commands: Mapping[str, Any], **attributes: Any) -> None:
            super().__init__(**attributes)
            listed = {name: TyperCommand(name, help=text) for name, (_, text) in entries.items()}
            self.commands = {**listed, **commands}

        def make_context(self, *arguments: Any, **options: Any) -> Any:
            with _visible_errors():
                return super().make_context(*arguments, **options)

        def invoke(self, ctx: Any) -> Any:
            with _visible_errors():
                return super().invoke(ctx)

        def format_help(self, ctx: Any, formatter: Any) -> None:
            ctx.meta[_ONLY_SUMMARIES] = True
            super().format_help(ctx, formatter)

        def shell_complete(self, ctx: Any, incomplete: str) -> Any:
            ctx.meta[_ONLY_SUMMARIES] = True
            return super().shell_complete(ctx, incomplete)

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            if cmd_name in entries and _ONLY_SUMMARIES not in ctx.meta:
                return _loaded(cmd_name, *entries[cmd_name])
            return super().get_command(ctx, cmd_name)

    return CommandGroup


class _ConfiguredContext(typer.Context):
    """Context that looks up options in the file if they are neither given nor set by a variable."""

    def lookup_default(self, name: str, call: bool = True) -> Any:  # noqa: ARG002 - library API
        # Help and completion also look up defaults; they use the built-in ones, whatever the file
        # says.
        if self.resilient_parsing or name not in defaults.VARIABLES:
            return None
        return configured(name)


class ConfiguredCommand(TyperCommand):
    """Command of idx that uses settings.

    An option whose parameter is named like a setting takes its value from the command line, then
    the option's environment variable, then the configuration file, then the command's default.
    """

    context_class = _ConfiguredContext

    def invoke(self, ctx: Any) -> Any:
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
        *defaults.VARIABLES.values(),
        defaults.CONFIGURATION_VARIABLE,
        *defaults.KEY_VARIABLES.values(),
        *defaults.OPENSEARCH_VARIABLES,
        defaults.MODEL_CACHE_VARIABLE,
        defaults.TOKENS_VARIABLE,
    }
    for name in sorted(name for name in os.environ if name.startswith("IDX_")):
        # A name that resembles none of them belongs to another program.
        if name not in known and (hint := did_you_mean(name, known, "", cutoff=0.8)):
            yield f"{name} is not a setting and has no effect; {hint}"
    file, variable = configuration_file(), defaults.CONFIGURATION_VARIABLE
    if os.environ.get(variable) and not os.path.lexists(file):
        yield f"{variable} names {file}, which does not exist"
