"""Patterns of ignore files: what they match is what git says, and none takes long."""

import random
import time
from pathlib import Path

import pytest
from pathspec import GitIgnoreSpec

from shared.files.patterns import Patterns
from tests.conftest import Idx
from tests.idx.files import ids, make
from tests.idx.preparation import index_files


@pytest.mark.soak
def test_bounded_patterns_match_what_unbounded_ones_do() -> None:
    chosen = random.Random(7)  # noqa: S311 - the same ones every time
    matched = 0
    for _ in range(5_000):
        parts = ("a", "b", "c", "*", "*", "?", "[ab]", "/", "**/", "/**/")
        lines = [
            ("!" if chosen.random() < 0.3 else "")
            + "".join(chosen.choices(parts, k=chosen.randint(1, 7)))
            for _ in range(chosen.randint(1, 3))
        ]
        names = ("".join(chosen.choices("abc", k=chosen.randint(1, 4))) for _ in range(4))
        path = "/".join([*names][: chosen.randint(1, 4)]) + chosen.choice(("", "/"))
        try:
            expected = GitIgnoreSpec.from_lines(lines).check_file(path).include
        except ValueError:
            continue
        verdict = Patterns(lines).verdict(path)
        assert verdict == expected, (lines, path)
        matched += verdict is not None
    assert matched > 1_000


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 100 + "*b", "a" * 255),
        ("*" + "?" * 200 + "*?*?*?*b", "a" * 255),
        ("**/a/" * 100 + "**/b", "a/" * 2_000),
        ("/".join(["**/*a*a*a*a*b"] * 20), ("a" * 250 + "/") * 16),
        ("a*" * 100 + "/" + "*a" * 100 + "b", "a" * 250 + "/" + "a" * 250),
    ],
)
def test_no_pattern_takes_long(pattern: str, path: str) -> None:
    patterns = Patterns([pattern])
    started = time.process_time()
    assert patterns.verdict(path) is None
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize(
    "pattern", ["!", "[z-a]", "[", "\\", "a\\", "/", "", "#a", "a[", "!/[", "[[:nope:]]", "(", "{a"]
)
def test_what_is_no_pattern_does_nothing_to_the_others(pattern: str) -> None:
    assert Patterns([pattern]).verdict("other") is None
    assert Patterns(["*.log", pattern]).verdict("a.log") is True


def test_all_folders_can_be_left_out() -> None:
    for pattern in ("*/", "**/", "/*/"):
        assert Patterns([pattern]).verdict("a/") is True
        assert Patterns([pattern]).verdict("a") is None


def test_folders_with_newlines_in_their_names_are_matched() -> None:
    assert Patterns(["*.log"]).verdict("a\nb/c.log") is True
    assert Patterns(["/a*/**/c"]).verdict("a\nb/\n/c") is True


@pytest.mark.parametrize("option", ["--include", "--exclude"])
def test_what_is_no_pattern_is_refused_where_the_user_gives_it(
    idx: Idx, empty_index: Path, tmp_path: Path, option: str
) -> None:
    make(tmp_path / "papers", "a.txt")
    index_files(empty_index, "papers")
    refused = idx("sync", "papers", option, "[", code=1)
    assert refused.stderr.startswith("Error: the pattern '[': is not a valid .gitignore pattern")
    assert ids(empty_index) == ["a.txt"]
