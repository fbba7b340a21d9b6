"""Make the build backend of pylucene/ importable, and keep every test off the user's cache."""

import sys
from pathlib import Path

import pytest

PYLUCENE = Path(__file__).resolve().parents[2] / "pylucene"

sys.path.insert(0, str(PYLUCENE))


@pytest.fixture(scope="session")
def pylucene() -> Path:
    """The folder of the package."""
    return PYLUCENE


@pytest.fixture(autouse=True)
def cache_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, so that no test finds, changes or waits for a real build."""
    home = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    return home
