"""Files written for one test, and read as `idx` reads them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from idx.extraction.formats import extract
from idx.extraction.types import Extracted, ExtractionOptions

FILES = Path(__file__).parent / "files"

Read = Callable[..., Extracted]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Write a file of a name and read it."""

    def read(name: str, data: bytes | str, *, encoding: str | None = None) -> Extracted:
        file = tmp_path / name
        file.write_bytes(data if isinstance(data, bytes) else data.encode())
        return extract(file, ExtractionOptions(encoding=encoding))

    return read
