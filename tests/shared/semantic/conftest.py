from pathlib import Path

import pytest

from shared.settings.defaults import MODEL_CACHE_VARIABLE


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(MODEL_CACHE_VARIABLE, str(tmp_path / "models"))
    return tmp_path / "models"
