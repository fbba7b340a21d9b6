"""A group of commands, each imported when it is run, so that the others take no time."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup


@dataclass(frozen=True)
class CommandEntry:
    """Where a command is, and what the list of commands says of it.

    Attributes:
        place: its module, a colon, and the function or the `typer.Typer` in it.
        summary: the first paragraph of its own help.
        command_class: the class of a function's command.
    """

    place: str
    summary: str
    command_class: type[TyperCommand] = TyperCommand

    def load(self, name: str) -> Any:
        """The command, imported; `name` is what it is called."""
        module, _, attribute = self.place.partition(":")
        target = getattr(import_module(module), attribute)
        application = typer.Typer()
        if isinstance(target, typer.Typer):
            application.add_typer(target, name=name)
        else:
            application.command(name, cls=self.command_class)(target)
        return typer.main.get_group(application).commands[name]


class _Commands(Mapping[str, Any]):
    """The commands of a table; each is loaded when it is looked up."""

    def __init__(self, entries: Mapping[str, CommandEntry]) -> None:
        self._entries = entries
        self._load: Final = cache(lambda name: entries[name].load(name))

    def __getitem__(self, name: str) -> Any:
        return self._load(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def command_group(entries: Mapping[str, CommandEntry]) -> type[TyperGroup]:
    """The class of a group that has the commands of a table, in its order."""

    class CommandGroup(TyperGroup):
        def __init__(self, **attributes: Any) -> None:
            super().__init__(**attributes | {"commands": _Commands(entries)})

        def format_help(self, ctx: Any, formatter: Any) -> None:
            """Print the help; a summary is all that it needs of each command."""
            commands = self.commands
            self.commands = {
                name: TyperCommand(name, help=entry.summary) for name, entry in entries.items()
            }
            super().format_help(ctx, formatter)
            self.commands = commands

    return CommandGroup
