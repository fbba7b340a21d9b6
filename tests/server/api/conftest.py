"""The sample documents in an index, and a server on it that everyone may ask."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.programs import run_idx
from tests.server.http.served import Served, served_here

SAMPLES = Path(__file__).parents[3] / "test-index" / "documents"


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an index of the sample documents, which tests only read."""
    path = tmp_path_factory.mktemp("api") / "lucene-index"
    assert run_idx(["add", SAMPLES, "-i", path], path.parent).returncode == 0
    return path


@pytest.fixture(scope="session")
def api(samples: Path) -> Iterator[Served]:
    """A server on `samples` that asks for no token."""
    with served_here(samples) as running:
        yield running
