"""Reading classes.txt: which Java classes get a Python wrapper."""

from dataclasses import dataclass
from pathlib import Path

from .source import ROOT


@dataclass(frozen=True)
class ClassList:
    """The classes to wrap, and the packages whose classes are wrapped when one mentions them."""

    classes: tuple[str, ...]
    packages: tuple[str, ...]


def read(path: Path = ROOT / "classes.txt") -> ClassList:
    """Read a class list: a name a line, `.*` behind the name of a package, `#` for comments."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    names = [line for line in lines if line and not line.startswith("#")]
    return ClassList(
        classes=tuple(name for name in names if not name.endswith(".*")),
        packages=tuple(name.removesuffix(".*") for name in names if name.endswith(".*")),
    )
