"""The Java virtual machine that runs Lucene: one per process, started on first use.

Nothing here runs at import time. A thread must be attached before it uses a Java object: wrap such
work in `attached()`, or call `start()` first in a long-lived thread, such as a worker of a pool.
Never fork while the machine runs: spawn child processes.
"""

import locale
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal

import lucene

from shared.errors import JavaStartError
from shared.java import startup_cache
from shared.settings.current import java_heap
from shared.system import reserve

Program = Literal["command", "batch", "server"]
"""Kind of program that runs the machine: a short command, a long run of writing, or the server."""

_COMMON: Final = (
    # Signals are left to Python: without this Ctrl-C ends the process before any `finally` runs.
    "-Xrs",
    # Lucene advises the kernel about mapped files through native calls.
    "--enable-native-access=ALL-UNNAMED",
    # stdout is for results and the protocol, so Java logs nothing, and the machine writes only
    # errors to stderr, but none about an unusable start-up cache.
    f"-Djava.util.logging.config.file={Path(__file__).with_name('logging.properties')}",
    "-Xlog:disable",
    "-Xlog:all=error:stderr",
    "-Xlog:aot*=off:stderr",
    # The heaps are small: one collector thread takes less memory.
    "-XX:+UseSerialGC",
    # Java would reserve a gigabyte of address space for classes; Lucene has 10 MB of them.
    "-XX:CompressedClassSpaceSize=64m",
)

QUICK: Final = (
    "-XX:TieredStopAtLevel=1",
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:-AOTReplayTraining",
)
"""Options for a short run, which gains nothing from the optimizing compiler, nor from compiling in
advance what the training run of the start-up cache used most."""

_INITIAL_HEAP: Final = 64
"""Initial heap size in MiB. Java's default is a 64th of the machine's memory, which it fills with
garbage before it collects any: on a machine of 24 GB a server took 300 MB instead of 210, for 5 %
less time."""

_MAX_STACK: Final = 1_000
"""Largest stack that Java can be told of, in MiB (`-Xss`), less than a gibibyte."""

_JAVA_THREADS: Final = 9
"""Number of threads that the machine starts with a stack of that size."""

_ADDRESS_SPACE_BESIDE_HEAP: Final = 1_060_000_000
"""Address space in bytes that the machine reserves in addition to the heap and to the stacks with
these options; about 100 MB are used."""

_VARIABLES_OF_JAVA: Final = ("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_AOT_VM_OPTIONS")
"""Environment variables with options for every Java program of a user. With options meant for
another version or a larger heap, the machine would end the process as it starts, and with any it
prints a line about them."""

OPTIONS_VARIABLE: Final = "MCP_LUCENE_JAVA_OPTIONS"
"""Environment variable with further options of the machine, for measurements."""

_starting = threading.Lock()


def options(program: Program, *extra_options: str) -> tuple[str, ...]:
    """Return the options of a virtual machine in the notation of the ``java`` launcher."""
    last = extra_options or startup_cache.options()
    heap = java_heap()
    sizes = (f"-Xms{min(heap, _INITIAL_HEAP)}m", f"-Xmx{heap}m")
    measuring = os.environ.get(OPTIONS_VARIABLE, "").split()
    stack = (f"-Xss{size}m",) if (size := _stack()) else ()
    quick = QUICK if program == "command" else ()
    return (*_COMMON, *stack, *quick, *sizes, *last, *measuring)


def _stack() -> int:
    """Return the size of a stack in MiB that leaves the first thread what it has, 0 for Java's own.

    On Linux, Java lays pages that end the process below its default of one MiB. From 3.12 on,
    Python goes deeper before it raises a RecursionError: CPython allows 10,000 calls of C functions
    (`Py_C_RECURSION_LIMIT`), and from 3.14 on as many as fit into the stack.
    """
    size = 0
    if sys.platform == "linux":
        import resource

        allowed, _ = resource.getrlimit(resource.RLIMIT_STACK)
        is_limited = allowed != resource.RLIM_INFINITY
        size = max(1, min(allowed // 2**20, _MAX_STACK)) if is_limited else _MAX_STACK
    return size


def start(program: Program = "command", *extra_options: str) -> None:
    """Start the virtual machine if it is not running, and attach the calling thread to it."""
    with _starting:
        environment = lucene.getVMEnv()
        if environment is None:
            _check_address_space()
            _have_java_spell_paths_like_python()
            for name in _VARIABLES_OF_JAVA:
                os.environ.pop(name, None)
            arguments = list(options(program, *extra_options))
            _check_code_page(lucene.CLASSPATH, *arguments)
            try:
                lucene.initVM(vmargs=arguments)
            except ValueError as error:
                raise JavaStartError(
                    f"the Java virtual machine could not be started: {error}"
                ) from error
            return
    _attach(environment)


def _attach(environment: lucene.JCCEnv) -> None:
    environment.attachCurrentThread()
    if not environment.isCurrentThreadAttached():
        raise JavaStartError(
            "Java has no memory for another thread; ask again later, or allow more with "
            "IDX_JAVA_HEAP"
        )


def _check_code_page(*texts: str) -> None:
    """Check that Java can read texts, which on Windows are passed to it in the code page."""
    if sys.platform == "win32":
        for text in texts:
            try:
                text.encode("mbcs")
            except UnicodeEncodeError as error:
                raise JavaStartError(
                    f"the path {text!r} cannot be read by Java, since the language that Windows is "
                    "set to lacks some of its letters; install mcp-lucene in another folder"
                ) from error


def _have_java_spell_paths_like_python() -> None:
    """Make Java use UTF-8 for file names if the locale has no encoding for them.

    Python does so by itself (PEP 540); on Linux, Java only follows the locale.
    """
    if (
        sys.platform == "linux"
        and sys.getfilesystemencoding() == "utf-8"
        and locale.getencoding().lower() != "utf-8"
    ):
        os.environ["LC_ALL"] = "C.UTF-8"


def _check_address_space() -> None:
    """Check that memory can be reserved, since Java would end the process if it cannot."""
    needed = _ADDRESS_SPACE_BESIDE_HEAP + (java_heap() + _JAVA_THREADS * _stack()) * 2**20
    try:
        reserve(needed)
    except OSError as error:
        raise JavaStartError(
            "the Java virtual machine could not be started: it reserves "
            f"{needed / 1e9:.1f} GB of address space, and this process may not; raise the "
            "limit (ulimit -v), or reduce the memory of Java with IDX_JAVA_HEAP"
        ) from error


def detach() -> None:
    """Detach the calling thread from the virtual machine, if it is attached."""
    environment = lucene.getVMEnv()
    if environment is not None and environment.isCurrentThreadAttached():
        environment.detachCurrentThread()


@contextmanager
def attached(program: Program = "command") -> Iterator[None]:
    """Attach the calling thread to the virtual machine for a block.

    The machine is started if necessary; the thread that starts it stays attached. Any other thread
    that was not attached before is detached at the end, since a thread that ends while it is
    attached leaks its Java counterpart.
    """
    environment = lucene.getVMEnv()
    if environment is None:
        start(program)
    elif environment.isCurrentThreadAttached():
        environment = None
    else:
        _attach(environment)
    try:
        yield
    finally:
        if environment is not None:
            environment.detachCurrentThread()


_SECONDS_BETWEEN_LOOKS: Final = 0.1


def in_background(work: Callable[[], None], cancel: Callable[[], None]) -> Iterator[None]:
    """Run work in another thread, so that this one can receive an interruption.

    A Java call does not return for a signal, and Python handles the signal only after it has
    returned.

    Yields several times a second, until the work is done.
    """
    from concurrent.futures import ThreadPoolExecutor, wait

    def run() -> None:
        with attached():
            work()

    with ThreadPoolExecutor(1) as thread:
        task = thread.submit(run)
        try:
            while not task.done():
                yield
                wait([task], _SECONDS_BETWEEN_LOOKS)
        finally:
            if not task.done():
                cancel()
    task.result()
