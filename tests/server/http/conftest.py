"""An index to search, and a server on it that everyone may ask."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from shared import Document
from tests.conftest import NewIndex
from tests.server.http.issuer import OWN, Issuer, issuing, status
from tests.server.http.served import Served, served

LONG = " ".join(f"word{number}" for number in range(700))  # four chunks of text


@pytest.fixture(scope="session")
def documents(new_index: NewIndex) -> Path:
    """The folder of an index that tests only read."""
    return new_index(Document("a", "A", "some text"), Document("long", "Long", LONG))


@pytest.fixture(scope="session")
def server(documents: Path) -> Iterator[Served]:
    """A server on `documents` that asks for no token."""
    with served(documents) as running:
        yield running


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with issuing() as running:
        yield running


@pytest.fixture(scope="module")
def protected(documents: Path, issuer: Issuer) -> Iterator[Served]:
    """A server that believes the issuer, and meets no error that was not foreseen."""
    with served(documents, *issuer.options, tokens=f"own:read:{OWN}") as running:
        yield running
        assert status(running, issuer.token()) == 200
        assert "/evil" not in issuer.asked
        assert "Traceback" not in running.logged()
        assert " ERROR " not in running.logged()
