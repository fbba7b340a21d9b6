"""The types of the programs on the systems that the other tests do not run on."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_the_types_are_those_of_another_system(platform: str) -> None:
    # In a cache of its own, which mypy does not share between systems: half a second afterwards.
    cache = ROOT / ".mypy_cache" / platform
    mypy = (sys.executable, "-m", "mypy", "--platform", platform, "--cache-dir", cache)
    done = subprocess.run(
        [*mypy, "idx", "server", "shared"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
