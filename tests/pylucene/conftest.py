"""The folder of pylucene/, and an empty cache: every test is kept off the user's."""

from pathlib import Path

import pytest

PYLUCENE = Path(__file__).resolve().parents[2] / "pylucene"


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
