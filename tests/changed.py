"""Print the tests of what was changed since the last commit, or else those that are fast.

`make quick` runs them. The tests of a module are those of the same name, or else those of its
command or its folder.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]

FAST: Final = ("tests/shared/model", "tests/shared/files", "tests/shared/settings")
"""Tests that start no program."""

ALWAYS: Final = "tests/test_architecture.py"


def changed() -> list[Path]:
    """Return the paths that differ from the last commit, and new ones, relative to the project."""
    arguments = (("diff", "--name-only", "HEAD"), ("ls-files", "--others", "--exclude-standard"))
    printed = (
        subprocess.run(
            ["git", *each],  # noqa: S607 - it is where the user has it
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for each in arguments
    )
    return [Path(line) for lines in printed for line in lines.splitlines()]


def own_tests(path: Path) -> list[Path]:
    """Return the tests of a changed file that exist, relative to the project."""
    if path.name.startswith("test_"):
        return [path]
    if path.suffix == ".md":
        return [Path("tests", "test_documentation.py")]
    if path.suffix != ".py" or path.parts[0] not in {"idx", "server", "shared"}:
        return []
    return next(filter(None, _candidates(path)), [])


def _candidates(path: Path) -> Iterator[list[Path]]:
    """Yield the tests of a module, those that are closest to it first."""
    own = Path("tests", path.parent, f"test_{path.name}")
    yield [own] if (ROOT / own).exists() else []
    # A command, a tool or a resource is tested by what it does.
    for word in path.stem.strip("_").split("_"):
        yield _named(path.parts[0], word)
    for folder in path.parents[:-2]:
        yield [Path("tests", folder)] if (ROOT / "tests" / folder).is_dir() else []
        yield _named(path.parts[0], folder.name)


def _named(package: str, word: str) -> list[Path]:
    """Return the tests of a package whose name begins with a word, in the singular."""
    found = (ROOT / "tests" / package).glob(f"test_{word.rstrip('s')}*.py")
    return sorted(test.relative_to(ROOT) for test in found)


if __name__ == "__main__":
    tests = {path: own_tests(path) for path in changed()}
    if untested := [str(path) for path, own in tests.items() if not own]:
        print("No tests of their own:", *untested, file=sys.stderr)
    found = {str(test) for own in tests.values() for test in own if (ROOT / test).exists()}
    print(*(sorted(found) or FAST), ALWAYS)
