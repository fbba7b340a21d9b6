"""A home folder of a test's own."""

from pathlib import Path

import pytest

from tests.idx.writing_commands import prepare


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder, which is the current folder of `idx`, too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".config").mkdir()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".config"))
    for variable in ("CODEX_HOME", "COPILOT_HOME"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which each of the commands that write has much to do; copy it, then write."""
    folder = tmp_path_factory.mktemp("prepared")
    prepare(folder)
    return folder
