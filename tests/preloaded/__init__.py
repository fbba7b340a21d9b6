"""Libraries that give one process another file system or another clock than it has."""

import shutil
import subprocess
from pathlib import Path

import pytest


def library(name: str, folder: Path) -> Path:
    """Compile a library to be put into ``LD_PRELOAD``; skip the test where there is no compiler.

    Args:
        name: that of a file in this folder, without its ending.
        folder: where the library goes.
    """
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    made = folder / f"{name}.so"
    source = Path(__file__).with_name(f"{name}.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", made, source], check=True)
    return made
