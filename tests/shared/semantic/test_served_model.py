"""Sentence models on a server."""

import re
from dataclasses import replace

import numpy as np
import pytest

from shared.errors import SemanticModelError
from shared.semantic.models import check_allowed, encoder_of, install
from shared.semantic.query_encoder import QueryEncoder
from shared.semantic.sentence_model import SentenceModel
from shared.semantic.served import server_of
from tests.embedding_server import NAME, ODD_VECTORS, as_json, counting, embeds, fails_at_first
from tests.model_server import ModelServer, sends_bytes, serving
from tests.shared.semantic.vectors import query_vector, vectors_of

ELSEWHERE = "https://models.example/v1#small"


def name_of(server: ModelServer) -> str:
    return f"{server.url}#{NAME}"


def test_the_server_tells_the_dimensions() -> None:
    with serving(embeds(counting)) as server:
        model = install(name_of(server))
        assert replace(model, unrelated=(0.0, 0.1)) == SentenceModel(name_of(server), "", 4)
        encoder = encoder_of(model)
        (vector,) = vectors_of(encoder, ["rent"])
        assert vector @ query_vector(encoder, "rent") == pytest.approx(1)
        assert np.linalg.norm(vector) == pytest.approx(1)


def test_half_of_a_surrogate_pair_is_sent_as_a_question_mark() -> None:
    with serving(embeds(counting)) as server:
        encoder_of(install(name_of(server))).query("a \ud800")
    assert server.requests[-1].body["input"] == ["a ?"]


@pytest.mark.parametrize("odd", ODD_VECTORS)
def test_odd_vectors_are_refused(odd: str) -> None:
    vectors, message = ODD_VECTORS[odd]
    with serving(as_json(vectors)) as server:
        encoder = encoder_of(SentenceModel(name_of(server), "", 4))
        with pytest.raises(SemanticModelError, match=re.escape(message)):
            encoder.query("rent")


def test_vectors_that_are_too_long_are_refused() -> None:
    with (
        serving(as_json([[1.0] * 5_000])) as server,
        pytest.raises(SemanticModelError, match="have 5,000 dimensions, not 1 to 4,096"),
    ):
        install(name_of(server))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("http://localhost/v1", "names no model; append its name on the server: http://localhost"),
        ("http://user:swordfish@localhost/v1#x", "must not contain a user, password"),
        ("https://#x", "should be an address such as"),
    ],
)
def test_a_wrong_address_is_named(name: str, message: str) -> None:
    with pytest.raises(SemanticModelError, match=message) as raised:
        install(name)
    assert "swordfish" not in str(raised.value)


def test_only_the_user_sends_texts_to_another_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    model = SentenceModel(ELSEWHERE, "", 4)
    with pytest.raises(SemanticModelError, match=r"sent to models\.example, which only the index"):
        check_allowed(model)
    check_allowed(model, named=ELSEWHERE)
    monkeypatch.setenv("IDX_SEMANTIC", "https://models.example/v1#other")
    with pytest.raises(SemanticModelError, match="set IDX_SEMANTIC"):
        check_allowed(model)
    monkeypatch.setenv("IDX_SEMANTIC", ELSEWHERE)
    check_allowed(model)


@pytest.mark.parametrize("name", ["e5", "hub:intfloat/e5@main"])
def test_a_model_of_the_cache_is_allowed(name: str) -> None:
    check_allowed(SentenceModel(name, "0", 4))


@pytest.mark.parametrize("name", ["http://localhost:11434/v1#x", "http://[::1]/v1#x", "/models/x"])
def test_one_elsewhere_on_this_machine_is_the_user_s_choice(name: str) -> None:
    with pytest.raises(SemanticModelError, match="which only the index names"):
        check_allowed(SentenceModel(name, "0", 4))


def test_other_names_are_files() -> None:
    assert server_of("e5") is None
    assert server_of("httpfolder") is None


def test_a_server_that_fails_is_left_alone_and_this_is_said_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [1_000.0]
    monkeypatch.setattr("shared.semantic.query_encoder.time.monotonic", lambda: now[0])
    queries = QueryEncoder()
    with serving(fails_at_first(2, sends_bytes(b"", 503), embeds(counting))) as server:
        model = SentenceModel(name_of(server), "", 4)
        monkeypatch.setenv("IDX_SEMANTIC", model.name)

        def asked(seconds: float) -> tuple[bool, str | None, int]:
            now[0] += seconds
            vector = queries.vector(model, f"query at {now[0]}")
            return vector is not None, queries.take_problem(), len(server.requests)

        is_found, problem, requests = asked(0)
        assert problem
        assert "answered with HTTP status 503" in problem
        assert (is_found, requests) == (False, 1)
        assert asked(30) == (False, None, 1)
        assert asked(31) == (False, None, 2)
        assert asked(61) == (True, None, 3)


def test_the_cosines_of_unrelated_texts_are_measured() -> None:
    with serving(embeds(counting)) as server:
        mean, deviation = install(name_of(server)).unrelated
    # Nearly all that these vectors say is the length of a text.
    assert 0.9 < mean < 1
    assert deviation < 0.1


def test_texts_are_sent_together() -> None:
    with serving(embeds(counting)) as server:
        encoder = encoder_of(SentenceModel(name_of(server), "", 4))
        assert len(encoder.passages(["a", "b", "c"])) == 3
        assert encoder.passages([]) == []
    assert [request.body["input"] for request in server.requests] == [["a", "b", "c"]]
