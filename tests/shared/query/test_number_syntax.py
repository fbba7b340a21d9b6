import subprocess
import sys

import pytest

from shared.query.syntax import is_number


@pytest.mark.parametrize("text", ["0", "2024", "-1.5", "+.5", "4.", "1e3", "2.5E-10"])
def test_these_are_numbers(text: str) -> None:
    assert is_number(text)


@pytest.mark.parametrize(
    "text", ["", ".", "nan", "inf", "2_020", "1e", "1e1000", "0x10", "٣", "1 "]
)
def test_these_are_words(text: str) -> None:
    assert not is_number(text)


def test_a_million_digits_are_read_but_once() -> None:
    # Tried at every digit, it would take hours, and a process of its own can be ended.
    code = "from shared.query.syntax import is_number; assert not is_number('1' * 10**6 + 'x')"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
