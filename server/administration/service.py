"""State shared by the administration tools."""

from asyncio import Lock
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from server.administration.operations import Operations
from server.administration.roots import Roots
from server.settings import ServerSettings
from shared.backends import location
from shared.files.access import own_files


@dataclass(frozen=True)
class Administration:
    """The operations on an index, and the roots of its folders.

    Attributes:
        index_path: the index folder, absolute.
        roots: the folders under which folders may be crawled.
        files: the server's own files, such as that of the tokens, which must not be indexed.
        operations: the running operation and the ended ones.
        configuration: lock for changes of the configuration file, which is read and written as a
            whole.
    """

    index_path: Path
    roots: Roots
    files: tuple[Path | None, ...] = ()
    operations: Operations = field(default_factory=Operations)
    configuration: Lock = field(default_factory=Lock)

    @classmethod
    def from_settings(
        cls, settings: ServerSettings, files: Sequence[Path | None] = ()
    ) -> "Administration | None":
        """Create the service from the settings; None if the server offers no administration.

        Args:
            settings: the settings of the server.
            files: the server's other files, such as that of the tokens.

        Raises:
            ServerOptionError: a root is not a folder.
        """
        if not settings.admin:
            return None
        return cls(location(settings.index_path), Roots.from_paths(settings.roots), tuple(files))

    @property
    def bounds(self) -> list[str]:
        """Options that restrict `idx sync` to the roots, without the server's own files."""
        kept_out = sorted(own_files(self.files))
        return [
            *self.roots.options,
            *(f"--keep-out={device}:{inode}" for device, inode in kept_out),
        ]

    def command(self, name: str, *arguments: str, paths: Sequence[str] = ()) -> list[str]:
        """Return the arguments of `idx` for a command on the index with JSON output."""
        index = f"--index-path={self.index_path}"
        return [name, "--json", index, *arguments, *(["--", *paths] if paths else [])]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """End the running operation when the block ends, even by cancellation."""
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                await self.operations.close()
