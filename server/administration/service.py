"""What the tools of administration share while a server runs."""

from asyncio import Lock
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from server.administration.operations import Operations
from server.administration.roots import Roots
from server.settings import ServerSettings
from shared.files.index_folder import absolute
from shared.files.own_files import own_files


@dataclass(frozen=True)
class Administration:
    """The operations on an index, and where its folders may lie.

    Attributes:
        index_path: the index folder, absolute.
        roots: the folders under which folders may be crawled.
        files: the server's own ones, which are no documents.
        operations: what runs, and what ran.
        configuration: held by who changes the configuration file, which is read and written whole.
    """

    index_path: Path
    roots: Roots
    files: tuple[Path | None, ...] = ()
    operations: Operations = field(default_factory=Operations)
    configuration: Lock = field(default_factory=Lock)

    @classmethod
    def of(
        cls, settings: ServerSettings, files: Sequence[Path | None] = ()
    ) -> "Administration | None":
        """What a server was told of administration; None if it offers none.

        Args:
            settings: what the server was told.
            files: those that it was given besides, such as the one of tokens.

        Raises:
            ServerOptionError: a root is no folder.
        """
        if not settings.admin:
            return None
        return cls(absolute(settings.index_path), Roots.of(settings.roots), tuple(files))

    @property
    def bounds(self) -> list[str]:
        """The options that keep `idx sync` in the roots, and away from the server's own files."""
        kept_out = sorted(own_files(self.files))
        return [
            *self.roots.options,
            *(f"--keep-out={device}:{inode}" for device, inode in kept_out),
        ]

    def command(self, name: str, *arguments: str, paths: Sequence[str] = ()) -> list[str]:
        """The arguments of `idx` for a command on the index that answers by JSON."""
        index = f"--index-path={self.index_path}"
        return [name, "--json", index, *arguments, *(["--", *paths] if paths else [])]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """End what runs when the block is left, whatever else is ended then."""
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                await self.operations.close()
