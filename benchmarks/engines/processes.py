"""Work in a process of its own, on one core or on all."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def apart(
    work: Callable[Parameters, Result], *arguments: Parameters.args, **named: Parameters.kwargs
) -> Result:
    """Have a function work in a new process, which knows nothing of this one."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *arguments, **named).result()


@contextmanager
def cores(count: int) -> Iterator[None]:
    """Have processes that are started within a block run on so many cores of this one's."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(allowed)[:count])
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def all_cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0))
