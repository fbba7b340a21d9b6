"""A cache of converted models for the tests, which the first of them fills."""

from pathlib import Path

import pytest

from shared.semantic import minilm
from shared.semantic.models import cache_folder
from shared.settings.defaults import MODEL_CACHE_VARIABLE


@pytest.fixture(scope="session")
def minilm_folder() -> Path:
    """The converted model, whose package the development environment has."""
    cache = cache_folder()
    return minilm.folder(cache) if minilm.is_converted(cache) else minilm.convert_into(cache)


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(MODEL_CACHE_VARIABLE, str(tmp_path / "models"))
    return tmp_path / "models"
