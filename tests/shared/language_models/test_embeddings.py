import asyncio
import time

import pytest

from shared.errors import LanguageModelBusyError, LanguageModelError
from shared.language_models.embeddings import embeddings
from tests.embedding_server import AWAY, NAME, TROUBLES, counting, embeds, fails_at_first
from tests.model_server import hangs_up, sends_bytes, serving

TEXTS = ["one", "three"]


def test_each_text_gets_its_vector() -> None:
    with serving(embeds(counting)) as server:
        found = embeddings(server.url, NAME, TEXTS, timeout=20, attempts=1, api_key="sk-swordfish")
    assert found == counting(TEXTS)
    (request,) = server.requests
    assert request.path == "/v1/embeddings"
    assert request.headers["authorization"] == "Bearer sk-swordfish"
    assert request.body == {"model": NAME, "input": TEXTS, "encoding_format": "float"}


def test_without_a_key_none_is_sent() -> None:
    with serving(embeds(counting)) as server:
        embeddings(f"{server.url}/", NAME, TEXTS, timeout=20, attempts=1)
    assert server.requests[0].path == "/v1/embeddings"
    assert "authorization" not in server.requests[0].headers


def test_a_caller_may_run_an_event_loop() -> None:
    async def embedded() -> list[list[float]]:
        return embeddings(server.url, NAME, TEXTS, timeout=20, attempts=1)

    with serving(embeds(counting)) as server:
        assert asyncio.run(embedded()) == counting(TEXTS)


@pytest.mark.parametrize("name", TROUBLES)
def test_anything_but_vectors_is_an_error(name: str) -> None:
    trouble = TROUBLES[name]
    with serving(trouble.answer) as server, pytest.raises(LanguageModelError) as raised:
        embeddings(server.url, NAME, TEXTS, timeout=trouble.timeout, attempts=1)
    assert trouble.diagnostic in str(raised.value)
    assert "secret-of-the-server" not in str(raised.value)


@pytest.mark.parametrize(
    "failure",
    [sends_bytes(b"{}", 429), sends_bytes(b"", 503), hangs_up],
    ids=["429", "503", "hangs up"],
)
def test_a_server_that_is_busy_or_away_is_asked_again(failure: object) -> None:
    assert callable(failure)
    with serving(fails_at_first(1, failure, embeds(counting))) as server:
        assert embeddings(server.url, NAME, TEXTS, timeout=20, attempts=3) == counting(TEXTS)
    assert len(server.requests) == 2


def test_it_is_left_alone_for_as_long_as_it_asks() -> None:
    busy = sends_bytes(b"{}", 429, Retry_After="2")
    with serving(fails_at_first(1, busy, embeds(counting))) as server:
        began = time.monotonic()
        embeddings(server.url, NAME, TEXTS, timeout=20, attempts=2)
    assert time.monotonic() - began >= 2


def test_it_is_not_asked_for_ever() -> None:
    with serving(sends_bytes(b"", 500)) as server, pytest.raises(LanguageModelBusyError):
        embeddings(server.url, NAME, TEXTS, timeout=20, attempts=2)
    assert len(server.requests) == 2


def test_a_request_that_is_refused_is_not_repeated() -> None:
    with serving(sends_bytes(b"{}", 400)) as server, pytest.raises(LanguageModelError):
        embeddings(server.url, NAME, TEXTS, timeout=20, attempts=5)
    assert len(server.requests) == 1


def test_a_server_that_is_not_there_is_named() -> None:
    with pytest.raises(LanguageModelBusyError, match=AWAY):
        embeddings("http://127.0.0.1:1/v1", NAME, TEXTS, timeout=20, attempts=1)
