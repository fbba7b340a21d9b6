"""Lazy group of commands: each is imported only when it is run, which keeps start-up fast."""

from collections import UserDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from shared.control_characters import visible

_USAGE_ERROR: Final[Any] = typer.BadParameter.__base__
"""The class of all errors of usage, which typer gives no name."""


@dataclass(frozen=True)
class CommandEntry:
    """Entry of a command in the table: its location and its summary.

    Attributes:
        place: its module, a colon, and the function or the `typer.Typer` in it.
        summary: the first paragraph of its help.
        command_class: the class of the command, if it is a function.
    """

    place: str
    summary: str
    command_class: type[TyperCommand] = TyperCommand

    def load(self, name: str) -> Any:
        """Import and return the command, named `name`."""
        module, _, attribute = self.place.partition(":")
        target = getattr(import_module(module), attribute)
        application = typer.Typer()
        if isinstance(target, typer.Typer):
            application.add_typer(target, name=name)
        else:
            application.command(name, cls=self.command_class)(target)
        return typer.main.get_group(application).commands[name]


@contextmanager
def _visible_errors() -> Iterator[None]:
    """Have errors of usage quote arguments, such as hostile names of files, visibly."""
    try:
        yield
    except _USAGE_ERROR as error:
        error.message = visible(error.message)
        raise


class _Commands(UserDict[str, Any]):
    """Commands by name; an entry is loaded on lookup."""

    def __getitem__(self, name: str) -> Any:
        command = self.data[name]
        if isinstance(command, CommandEntry):
            self.data[name] = command = command.load(name)
        return command


def command_group(entries: Mapping[str, CommandEntry]) -> type[TyperGroup]:
    """Return a group class with the commands of a table, in its order, before all others."""

    class CommandGroup(TyperGroup):
        def __init__(self, *, commands: Mapping[str, Any], **attributes: Any) -> None:
            super().__init__(**attributes)
            self.commands = _Commands({**entries, **commands})
            self._others = commands

        def make_context(self, *arguments: Any, **options: Any) -> Any:
            """Read the options of the program."""
            with _visible_errors():
                return super().make_context(*arguments, **options)

        def invoke(self, ctx: Any) -> Any:
            """Run a command."""
            with _visible_errors():
                return super().invoke(ctx)

        def format_help(self, ctx: Any, formatter: Any) -> None:
            """Print the help, for which the summaries of the commands suffice."""
            with self._summaries():
                super().format_help(ctx, formatter)

        def shell_complete(self, ctx: Any, incomplete: str) -> Any:
            """Complete the name of a command, with its summary."""
            with self._summaries():
                return super().shell_complete(ctx, incomplete)

        @contextmanager
        def _summaries(self) -> Iterator[None]:
            """Replace the commands for the block by stubs with summaries, which need no import."""
            loadable = self.commands
            listed = {
                name: TyperCommand(name, help=entry.summary) for name, entry in entries.items()
            }
            self.commands = {**listed, **self._others}
            yield
            self.commands = loadable

    return CommandGroup
