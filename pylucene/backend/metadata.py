"""The metadata that the package carries, in its source distribution and in its wheels."""

import tomllib
from collections.abc import Iterator
from typing import Any

from .source import ROOT, glob


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


def wheel(tag: str, key: str) -> str:
    """The file WHEEL of a wheel.

    Args:
        tag: the tag of the wheel, as in its name.
        key: the key of its sources and options.
    """
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
