"""Benchmarks write their figures into pages, and leave what people wrote there."""

from pathlib import Path

import pytest

from benchmarks import page

PAGE = """# Speed

Words.

<!-- written by one -->

old

<!-- until here -->

<!-- written by two -->

old
"""


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(page, "MEASURED", tmp_path)
    file = tmp_path / "speed.md"
    file.write_text(PAGE)
    return file


def test_the_figures_of_one_benchmark_are_replaced_and_the_rest_stays(measured: Path) -> None:
    page.write_figures("speed.md", ["| new |"], writer="one")
    assert measured.read_text() == PAGE.replace("old", "| new |", 1)


def test_the_last_figures_of_a_page_are_replaced_and_the_rest_stays(measured: Path) -> None:
    page.write_figures("speed.md", ["| new |"], writer="two")
    assert measured.read_text() == PAGE[::-1].replace("dlo", "| wen |", 1)[::-1]


def test_a_page_without_a_place_for_the_figures_is_left_alone(measured: Path) -> None:
    with pytest.raises(ValueError, match="where its figures begin"):
        page.write_figures("speed.md", ["| new |"], writer="three")
    assert measured.read_text() == PAGE
