"""Worker processes of what runs in this process, forked from one that has loaded the readers.

A program spawns its own (`shared.workers`), each of which takes a quarter of a second to import
what reads files: hundreds of times in a run of the tests.
"""

import multiprocessing
import os
import sys
import time
from multiprocessing.context import BaseContext
from typing import Any, Final

import pytest

_LOADED: Final = (
    "idx.extraction.worker",
    "lxml.etree",
    "oxmsg",
    "pycld2",
    "pypdfium2.raw",
    "shared.files.patterns",
    "shared.semantic.encoder",
    __name__,
)
"""Modules of the process that is forked, as far as they are installed."""

GET_CONTEXT: Final = multiprocessing.get_context
"""What the programs spawn their workers by."""

if sys.platform == "linux":
    from multiprocessing.context import ForkServerContext, ForkServerProcess
    from multiprocessing.reduction import DupFd

    class _Worker(ForkServerProcess):
        """A worker with the environment and the stderr that a spawned one would have."""

        _stderr: Any

        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self._environment = dict(os.environ)

        def __getstate__(self) -> dict[str, Any]:
            # Called while the process starts, which alone can hand over a file.
            return {**self.__dict__, "_stderr": DupFd(2)}

        def run(self) -> None:
            os.dup2(self._stderr.detach(), 2)
            os.environ.clear()
            os.environ.update(self._environment)
            time.tzset()
            super().run()

    class _Context(ForkServerContext):
        Process = _Worker

    def fork_workers(patch: pytest.MonkeyPatch) -> None:
        """Have worker processes of this process be forked."""
        context = _Context()

        def chosen(method: str | None = None) -> BaseContext:
            return context if method == "spawn" else GET_CONTEXT(method)

        multiprocessing.set_forkserver_preload([*_LOADED])
        patch.setattr(multiprocessing, "get_context", chosen)

else:

    def fork_workers(patch: pytest.MonkeyPatch) -> None:
        """Do nothing: elsewhere processes cannot be forked, or not safely."""
