"""Print the tests of what was changed since the last commit, or else those that are fast.

`make quick` runs them. The tests of a module are those of the same name, or else those of its
command or its folder.
"""

import subprocess
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


def own_tests(path: Path) -> Iterator[Path]:
    """Yield the tests of a changed file that exist, relative to the project.

    Args:
        path: a file of the project; it may be gone.
    """
    if path.name.startswith("test_"):
        yield path
    elif path.suffix == ".py" and path.parts[0] in {"idx", "server", "shared"}:
        own = Path("tests", path.parent, f"test_{path.name}")
        of_command = sorted(Path("tests", "idx").glob(f"test_{path.stem.rstrip('_')}*.py"))
        if (ROOT / own).exists():
            yield own
        elif path.parent.name == "commands":
            yield from of_command
        elif (folder := Path("tests", path.parent)).is_dir() and len(path.parts) > 2:
            yield folder
    elif path.suffix == ".md":
        yield Path("tests", "test_documentation.py")


if __name__ == "__main__":
    found = {test for path in changed() for test in own_tests(path) if (ROOT / test).exists()}
    print(*(sorted(map(str, found)) or FAST), ALWAYS)
