"""Worker processes that read files under limits, so that a file can harm no process but one.

A document is a program of sorts, written by anyone: it may crash its parser, never end, or exhaust
the memory. Workers are spawned, never forked, because their parent may run a Java virtual machine.
"""

import logging
import multiprocessing
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future, wait
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

from shared import system

if TYPE_CHECKING:
    from pebble import ProcessPool

_WATCH_SECONDS: Final = 1.0
"""Interval in which a worker looks at its memory and its parent, in seconds."""

_TOO_MUCH_MEMORY_EXIT_CODE: Final = 137
"""Exit code of a worker that ends itself, as if the system had killed it for want of memory."""

CHECK_INTERVAL_SECONDS: Final = 1.0
"""Interval in which whoever waits for a task looks whether the pool gave up, in seconds.

It gives up when an idle worker dies, and reports this to all waiting tasks, except to one that it
was just accepting.
"""

_MAX_END_SECONDS: Final = 2.0
"""Maximum time to wait for the threads of a pool whose workers have been killed, in seconds."""

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def new_pool(
    workers: int, memory_bytes: int, warm_up: Callable[[], object] | None = None
) -> "ProcessPool":
    """Return a pool of worker processes, which start with the first task."""
    from pebble import ProcessPool

    # Windows' kind of pipe is missing in the types of pebble.
    context: Any = multiprocessing.get_context("spawn")
    return ProcessPool(
        max_workers=workers, context=context, initializer=_prepare, initargs=(memory_bytes, warm_up)
    )


def schedule(
    pool: "ProcessPool",
    task: Callable[Arguments, Result],
    seconds: float,
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> Future[Result]:
    """Have a worker run a task.

    The first call starts the workers. They end with the thread that makes it, so it must be one
    that lives as long as the pool.
    """
    # With PYTHONSAFEPATH workers import no module from the current folder, which may be the one to
    # index.
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        with system.spawning():
            return pool.schedule(task, args=args, kwargs=kwargs, timeout=seconds)
    except RuntimeError as error:
        raise BrokenExecutor(str(error)) from error


def result_of(pool: "ProcessPool", task: Future[Result]) -> Result:
    """Wait for the result of a task."""
    while not wait([task], CHECK_INTERVAL_SECONDS).done:
        if not pool.active:
            raise BrokenExecutor("the pool of workers gave up")
    return task.result()


def end_pool(pool: "ProcessPool") -> None:
    """End a pool, and all worker processes of this one."""
    # Stopping the pool removes resources that a starting worker needs, which would make it print a
    # traceback; so kill the workers first.
    for process in multiprocessing.active_children():
        process.kill()
    pool.stop()  # type: ignore[no-untyped-call]  # missing in pebble
    # A thread of the pool may wait for a worker to take a task from a full pipe, which none does
    # any more. On Windows a pipe is full after 8 KB.
    end = threading.Thread(target=pool.join, daemon=True)
    end.start()
    end.join(_MAX_END_SECONDS)


def _prepare(memory_bytes: int, warm_up: Callable[[], object] | None) -> None:
    """Prepare a new worker process; see `new_pool`."""
    system.limit_memory(memory_bytes)
    # Otherwise a worker would continue to the end of its task after its parent is killed.
    system.end_with_parent()
    if not system.LIMITS_MEMORY:
        threading.Thread(target=watch, args=(memory_bytes,), daemon=True).start()
    # Parsers log everything that they repair.
    logging.disable()
    system.ignore_interruptions()
    if warm_up is not None:
        warm_up()


def watch(memory_bytes: int) -> None:
    """End this process once it holds more memory, or its parent has ended.

    Linux does both by itself, at once; macOS and Windows do neither. Code that keeps Python's lock
    for long is ended by the limit on the time of its task.
    """
    import psutil

    this, parent = psutil.Process(), multiprocessing.parent_process()
    while parent is None or parent.is_alive():
        if this.memory_info().rss > memory_bytes:
            os._exit(_TOO_MUCH_MEMORY_EXIT_CODE)
        time.sleep(_WATCH_SECONDS)
    os._exit(0)
