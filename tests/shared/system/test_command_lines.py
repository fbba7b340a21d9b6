"""Words of commands that a user copies from a message into a shell."""

import shlex
import subprocess
import sys

import pytest

from shared.system.shell import joined, quoted, quoted_for_windows


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
