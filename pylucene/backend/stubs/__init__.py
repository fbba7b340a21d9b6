"""Type stubs of the wrapper (PEP 561), from the description that `inside/wrap.py` writes.

They follow the code that JCC generates, not the Java classes alone: arguments are positional, an
object may be None, a Python sequence or a single value stands for an array, and a class is accepted
for each of its interfaces but has only the methods that are wrapped for it.
"""

import json
import shutil
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from .classes import render
from .names import Names

_LUCENE = Path(__file__).with_name("lucene.pyi")

# Java has other rules: the methods of a class may differ from those of its super class, a
# property may hide a method, and of two overloads that fit, the first is called.
_HEADER = """\
# Generated from the Java classes that JCC wraps.
# mypy: disable-error-code="assignment, misc, overload-cannot-match, overload-overlap, override"

"""


def write(description: Path, folder: Path) -> None:
    """Write the stubs of all packages that a description names, and of the module `lucene`.

    They are in the folders `lucene`, `java-stubs` and `org-stubs`, as in site-packages.
    """
    names = Names(json.loads(description.read_text(encoding="utf-8")))
    for package, text in _packages(names):
        top, *rest = package.split(".")
        path = folder / f"{top}-stubs"
        path.mkdir(parents=True, exist_ok=True)
        # Other distributions may have stubs of other packages of the same names.
        (path / "py.typed").write_text("partial\n", encoding="utf-8")
        # mypy does not find stubs of packages without this file.
        (path / "__init__.pyi").touch()
        for name in rest:
            path /= name
            path.mkdir(exist_ok=True)
            (path / "__init__.pyi").touch()
        (path / "__init__.pyi").write_text(text, encoding="utf-8")
    package_folder = folder / "lucene"
    package_folder.mkdir(exist_ok=True)
    shutil.copy(_LUCENE, package_folder / "__init__.pyi")
    (package_folder / "py.typed").touch()


def _packages(names: Names) -> Iterator[tuple[str, str]]:
    packages = defaultdict(list)
    for name in sorted(names.classes):
        if not names.outer(name):
            packages[name.rpartition(".")[0]].append(name)
    modules = ("builtins", "collections.abc", "lucene", "typing", *packages)
    # Names are written in full: in a class, a short one could mean one of its members.
    imports = "".join(f"import {module}\n" for module in modules)
    for package, members in packages.items():
        lines = [line for name in members for line in ("", *render(names, name))]
        yield package, _HEADER + imports + "\n".join(lines) + "\n"
