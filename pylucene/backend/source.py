"""The files this package is made of, the metadata that it carries, and the classes to wrap."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


def project() -> dict[str, Any]:
    """The [project] table of pyproject.toml."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        table: dict[str, Any] = tomllib.load(file)["project"]
    return table


def pkg_info() -> str:
    """The [project] table as headers, and the README below them."""
    table = project()
    headers = "".join(f"{name}: {value}\n" for name, value in _headers(table))
    return f"{headers}\n{(ROOT / table['readme']).read_text(encoding='utf-8')}"


def wheel_file(tag: str, key: str) -> str:
    """The file WHEEL of a wheel, with the key of its sources and options."""
    return f"Wheel-Version: 1.0\nGenerator: pylucene {key}\nRoot-Is-Purelib: false\nTag: {tag}\n"


def _headers(table: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "Metadata-Version", "2.4"
    yield "Name", table["name"]
    yield "Version", table["version"]
    yield "Summary", table["description"]
    yield "Keywords", ",".join(table["keywords"])
    yield from (("Classifier", classifier) for classifier in table["classifiers"])
    yield "License-Expression", table["license"]
    yield from (("License-File", file.as_posix()) for file in glob(*table["license-files"]))
    yield "Requires-Python", table["requires-python"]
    yield from (("Requires-Dist", requirement) for requirement in table["dependencies"])
    yield "Description-Content-Type", "text/markdown"


@dataclass(frozen=True)
class ClassList:
    """The classes to wrap, and the packages whose classes are wrapped when one mentions them."""

    classes: tuple[str, ...]
    packages: tuple[str, ...]


def class_list(path: Path = ROOT / "classes.txt") -> ClassList:
    """Read a class list: a name a line, `.*` behind the name of a package, `#` for comments."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    names = [line for line in lines if line and not line.startswith("#")]
    return ClassList(
        classes=tuple(name for name in names if not name.endswith(".*")),
        packages=tuple(name.removesuffix(".*") for name in names if name.endswith(".*")),
    )
