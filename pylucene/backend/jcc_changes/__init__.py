"""Changes to JCC and to the code that it generates, a module for each subject.

Each looks for the code that it is about, as it is in the pinned JCC, and ends the build where that
is not there.
"""

from pathlib import Path

from . import exceptions, order, references, stable_abi, strings, threads, windows

__all__ = ["FOLDER", "change_jcc", "change_module"]

FOLDER = Path(__file__).parent


def change_jcc(package: Path, code: Path) -> None:
    """Change JCC itself: its package, and the code of its module, with the runtime among it."""
    order.change(package)
    _change_runtime(code)
    stable_abi.export(code / "boot.cpp", "_jcc3")


def change_module(folder: Path, name: str) -> None:
    """Change the package `name` that JCC has written to a folder, and the module `_name`."""
    code = folder / f"_{name}"
    _change_runtime(code)
    threads.change(code)
    stable_abi.export(code / f"{name}.cpp", f"_{name}")
    exceptions.change_package(folder / name)
    windows.change_package(folder / name)


def _change_runtime(code: Path) -> None:
    """Change the runtime that every module has a copy of, JCC's own included."""
    stable_abi.change(code)
    strings.change(code)
    references.change(code)
    exceptions.change(code)
    windows.change(code)
