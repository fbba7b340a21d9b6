"""Folders and files of a test's own, and a folder in which commands have much to do."""

from collections.abc import Callable
from pathlib import Path

import pytest

from idx.extraction.formats import extract_from
from idx.extraction.types import Extracted, ExtractionOptions
from tests.idx.files import make
from tests.idx.writing_commands import prepare

FILES = Path(__file__).parent / "extraction" / "files"

Read = Callable[..., Extracted]


def extract(file: Path, options: ExtractionOptions) -> Extracted:
    """Read a file as `idx` does, without what is within it."""
    with file.open("rb") as stream:
        return extract_from(stream, file, options)


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


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    """An empty folder."""
    return make(tmp_path / "papers")


@pytest.fixture
def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have what a killed process leaves in the system's temporary folder go with the test."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which each of the commands that write has much to do; copy it, then write."""
    folder = tmp_path_factory.mktemp("prepared")
    prepare(folder)
    return folder


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Write a file of a name and read it as `idx` does."""

    def read(name: str, data: bytes | str, *, encoding: str | None = None) -> Extracted:
        file = tmp_path / name
        file.write_bytes(data if isinstance(data, bytes) else data.encode())
        return extract(file, ExtractionOptions(encoding=encoding))

    return read
