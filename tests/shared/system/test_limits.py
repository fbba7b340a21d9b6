"""Memory and time of processes, words of commands, and paths of Windows."""

import os
import shlex
import subprocess
import sys

import pytest

from shared import system
from shared.system.shell import joined, quoted, quoted_for_windows
from shared.system.windows_paths import extended, is_link_tag
from tests.systems import enforces_limits

_TAKES_MEMORY = """
import sys
from shared.system import limit_memory
limit_memory(400_000_000)
try:
    bytearray(600_000_000)
except MemoryError:
    sys.exit(7)
"""

_TAKES_TIME = """
from shared.system import limit_processor_time
limit_processor_time(2)
while True:
    pass
"""


def test_the_machine_has_memory_and_cores() -> None:
    assert system.memory_bytes() > 100_000_000
    assert 1 <= system.usable_cores() <= (os.cpu_count() or 1)
    assert system.max_open_files() > 100


@enforces_limits
@pytest.mark.skipif(not system.LIMITS_MEMORY, reason="the system limits no memory")
def test_a_process_gets_no_more_memory_than_it_may() -> None:
    done = subprocess.run([sys.executable, "-c", _TAKES_MEMORY], timeout=60, check=False)
    assert done.returncode == 7


@pytest.mark.soak
@enforces_limits
def test_a_process_ends_after_its_processor_time() -> None:
    done = subprocess.run([sys.executable, "-c", _TAKES_TIME], timeout=60, check=False)
    assert done.returncode == system.EXIT_CODE_AFTER_TIME


@pytest.mark.parametrize(
    ("word", "written"),
    [
        ("C:\\docs\\a-b.txt", "C:\\docs\\a-b.txt"),
        ("C:\\My documents", '"C:\\My documents"'),
        ("C:\\My documents\\", '"C:\\My documents\\\\"'),
        ("", '""'),
        ('a "b" c', '"a ""b"" c"'),
        ('a\\"b', '"a\\\\""b"'),
        ("50%&more", '"50%&more"'),
        ("it's", '"it\'s"'),
        ("Übersicht", '"Übersicht"'),
    ],
)
def test_a_word_for_windows_is_quoted_where_a_shell_would_change_it(
    word: str, written: str
) -> None:
    assert quoted_for_windows(word) == written


@pytest.mark.parametrize("words", [["a b", "c"], ["it's", 'a"b', "$HOME", ""], ["back\\slash\\"]])
def test_a_program_gets_the_words_that_were_written(words: list[str]) -> None:
    program = "import sys; print('\\0'.join(sys.argv[1:]), end='')"
    line = joined([sys.executable, "-c", program, *words])
    done = subprocess.run(line, shell=True, capture_output=True, text=True, check=True)  # noqa: S602 - what is tested
    assert done.stdout.split("\0") == words


@pytest.mark.skipif(sys.platform == "win32", reason="sh is the shell elsewhere")
def test_elsewhere_a_word_is_quoted_for_sh() -> None:
    assert shlex.split(quoted("it's here")) == ["it's here"]


@pytest.mark.parametrize(
    ("path", "literal"),
    [
        ("C:\\docs\\a.txt", "\\\\?\\C:\\docs\\a.txt"),
        ("C:/docs/../other", "\\\\?\\C:\\other"),
        ("\\\\server\\share\\docs", "\\\\?\\UNC\\server\\share\\docs"),
        ("\\\\?\\C:\\docs", "\\\\?\\C:\\docs"),
        ("\\\\?\\C:\\docs\\.\\dot.", "\\\\?\\C:\\docs\\.\\dot."),
        ("\\\\.\\NUL", "\\\\.\\NUL"),
        ("C:\\" + "x" * 300, "\\\\?\\C:\\" + "x" * 300),
    ],
)
def test_a_path_is_written_so_that_windows_takes_it_literally(path: str, literal: str) -> None:
    assert extended(path) == literal


@pytest.mark.parametrize(
    ("tag", "is_link"),
    [
        (0xA000_000C, True),  # a symbolic link
        (0xA000_0003, True),  # a junction
        (0xA000_001D, True),  # a symbolic link of WSL
        (0x8000_001B, True),  # an app execution alias
        (0x9000_001A, False),  # a file of OneDrive
        (0x8000_0013, False),  # a deduplicated file
        (0x8000_0017, False),  # a compressed file of the system
        (0, False),
    ],
)
def test_only_what_stands_for_another_path_is_a_link(tag: int, is_link: bool) -> None:
    assert is_link_tag(tag) == is_link
