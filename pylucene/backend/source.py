"""The files this package is made of."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def files() -> list[Path]:
    """Every file that a source distribution holds and that may change the wheel."""
    return glob(
        "LICENSE",
        "README.md",
        "classes.txt",
        "jgo.toml",
        "jgo.lock.toml",
        "pyproject.toml",
        "backend/**/*.h",
        "backend/**/*.py",
        "backend/**/*.pyi",
        "licenses/*.txt",
        "requirements/*.in",
        "requirements/*.toml",
        "requirements/*.txt",
    )


def glob(*patterns: str) -> list[Path]:
    """The files that match one of the patterns, relative to ROOT, in an order that is fixed."""
    found = {path.relative_to(ROOT) for pattern in patterns for path in ROOT.glob(pattern)}
    return sorted(found, key=Path.as_posix)
