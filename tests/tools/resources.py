"""What a process with Java in it takes of the machine."""

import os
import re
import socket
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from shared.java.vm import OPTIONS_VARIABLE

OPENED_TO_QUESTIONS: Final = {
    OPTIONS_VARIABLE: "-XX:+StartAttachListener -XX:NativeMemoryTracking=summary"
}
"""The environment of a process that `taken_by` can ask."""

_COMING_AND_GOING: Final = (
    "C1 Compiler",
    "C2 Compiler",
    "ForkJoinPool",
    "Lucene Merge",
    "Attach Listener",
)
"""How names of threads begin that Java starts and ends as there is work."""


@dataclass(frozen=True)
class Resources:
    """What a process takes, in kilobytes of 1024 bytes where it is memory."""

    descriptors: int
    threads: int
    mapped_files: int
    resident: int
    java_heap: int
    java_native: int
    java_compiled: int
    """The part of `java_native` for compiled code, and for compilers while they run."""


def taken_by(process_id: int, index: Path) -> Resources:
    """Measure a process that runs with `OPENED_TO_QUESTIONS`, after a full collection."""
    process = Path(f"/proc/{process_id}")
    # Java closes the sockets on which it is asked a little later.
    descriptors = len(os.listdir(process / "fd"))  # noqa: PTH208 - links that lead nowhere
    _ask_java(process_id, "GC.run")
    native = _ask_java(process_id, "VM.native_memory summary scale=KB")
    heap = _kilobytes(r"Java Heap \(reserved=\d+KB, committed=(\d+)KB", native)
    names = [_text(file) for file in process.glob("task/*/comm")]
    mapped = re.findall(rf"{re.escape(str(index))}/(\S+)", _text(process / "maps"))
    return Resources(
        descriptors=descriptors,
        threads=sum(not name.startswith(_COMING_AND_GOING) for name in names),
        mapped_files=len(set(mapped)),
        resident=_kilobytes(r"VmRSS:\s+(\d+) kB", _text(process / "status")),
        java_heap=_kilobytes(r", used (\d+)K \[", _ask_java(process_id, "GC.heap_info")),
        java_native=_kilobytes(r"Total: reserved=\d+KB, committed=(\d+)KB", native) - heap,
        java_compiled=_kilobytes(
            r"(?:Code|Arena Chunk) \(reserved=\d+KB, committed=(\d+)KB", native
        ),
    )


def _text(file: Path) -> str:
    """What a file of /proc says; nothing if the thread has ended."""
    try:
        return file.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _kilobytes(pattern: str, text: str) -> int:
    return sum(map(int, re.findall(pattern, text)))


def _ask_java(process_id: int, command: str) -> str:
    """What Java answers to a command of jcmd, which the JDK here has no program for.

    The protocol is that of HotSpot's attachListener_posix.cpp: its version, the name of the
    operation and three arguments, each with a null character at its end.
    """
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(f"{tempfile.gettempdir()}/.java_pid{process_id}")
        connection.sendall(
            b"".join(f"{part}\0".encode() for part in ("1", "jcmd", command, "", ""))
        )
        with connection.makefile("rb") as answer:
            return answer.read().decode()
