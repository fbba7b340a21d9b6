"""Answers of a language model in `POST /search`, whole and as events."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from shared.answers.answer import REFUSAL
from tests.model_server import Answer, quoting, sends_bytes, serving, streams
from tests.server.http.served import SECONDS, Served, served_here

QUESTION = "How much is the deposit of the garden flat?"
QUOTE = "have paid a deposit of £1,130"


@contextmanager
def answering(index: Path, answer: Answer) -> Iterator[Served]:
    with serving(answer) as model:
        variables = {"IDX_ANSWER_MODEL": "test", "IDX_ANSWER_URL": model.url}
        with served_here(index, environment=variables) as server:
            yield server


def asked(server: Served, headers: dict[str, str] | None = None, **body: Any) -> httpx2.Response:
    body = {"query": QUESTION, "include_answer": True} | body
    return httpx2.post(f"{server.base}/search", json=body, headers=headers, timeout=SECONDS)


def events(response: httpx2.Response) -> list[tuple[str, Any]]:
    assert response.headers["content-type"].startswith("text/event-stream")
    found = []
    for block in response.text.strip().split("\n\n"):
        name, data = block.split("\n")
        found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def test_an_answer_has_its_checked_citations(samples: Path) -> None:
    truth = streams(quoting("They paid £1,130 [1].", QUOTE))
    with answering(samples, truth) as server:
        response = asked(server)
        assert response.status_code == 200, response.text
        answer = response.json()
        assert answer["answer"] == "They paid £1,130 [1]."
        (citation,) = answer["citations"]
        assert (citation["holds"], citation["quote"]) == (True, QUOTE)
        assert citation["source_document"] == "lease-garden-flat.txt"
        assert citation["id"] in {hit["id"] for hit in answer["results"]}
        assert answer["answer_confidence"] == citation["confidence"] > 0
        assert answer["answer_time_ms"] > 0

        told = events(asked(server, {"Accept": "text/event-stream"}))
        assert told[0][0] == "results"
        assert told[0][1]["results"] == answer["results"]
        assert "".join(data["text"] for name, data in told if name == "delta") == answer["answer"]
        assert len(told) > 3
        name, whole = told[-1]
        assert name == "answer"
        assert whole["citations"] == answer["citations"]
        assert [part["state"] for part in whole["statements"]] == ["cited"]


def test_what_the_documents_do_not_say_is_not_sent_to_a_model(samples: Path) -> None:
    with serving(streams(quoting("Yes [1].", QUOTE))) as model:
        variables = {"IDX_ANSWER_MODEL": "test", "IDX_ANSWER_URL": model.url}
        with served_here(samples, environment=variables) as server:
            answer = asked(server, query="Who won the chess olympiad in Zagreb?").json()
            assert (answer["answer"], answer["answer_confidence"]) == (REFUSAL, 0)
            below = asked(server, min_relevance_score=1).json()
            assert (below["answer"], below["results"]) == (REFUSAL, [])
        assert model.requests == []


@pytest.mark.parametrize(
    "lie", [quoting("It is £9,999 [1].", "the deposit is £9,999"), "It is £9,999 [17]."]
)
def test_an_answer_none_of_whose_citations_holds_is_a_refusal(samples: Path, lie: str) -> None:
    with answering(samples, streams(lie)) as server:
        answer = asked(server).json()
        assert (answer["answer"], answer["answer_confidence"]) == (REFUSAL, 0)
        assert not any(citation["holds"] for citation in answer["citations"])
        name, whole = events(asked(server, {"Accept": "text/event-stream"}))[-1]
        assert (name, whole["refused"]) == ("answer", True)


def test_a_broken_model_is_a_problem_and_the_last_event(samples: Path) -> None:
    broken = sends_bytes(b"secret-of-the-server", 500)
    with answering(samples, broken) as server:
        response = asked(server)
        assert response.status_code == 502
        assert "HTTP status 500" in response.json()["detail"]
        assert "secret-of-the-server" not in response.text
        name, problem = events(asked(server, {"Accept": "text/event-stream"}))[-1]
        assert (name, problem["status"]) == ("problem", 502)
        assert asked(server, include_answer=False).status_code == 200


def test_without_a_model_the_problem_says_what_to_set(api: Served) -> None:
    response = asked(api)
    assert response.status_code == 409
    assert "IDX_ANSWER_MODEL" in response.json()["detail"]


def test_who_searches_chooses_neither_the_model_nor_its_server(samples: Path) -> None:
    variables = {"IDX_ANSWER_MODEL": "llama", "IDX_ANSWER_API_KEY": "sk-swordfish"}
    with served_here(samples, environment=variables) as server:
        response = asked(server, answer_model="openai:gpt-5")
        assert response.status_code == 403
        assert "answers by 'llama' only" in response.json()["detail"]
    with serving(streams(quoting("£1,130 [1].", QUOTE))) as model:
        variables = {"IDX_ANSWER_MODEL": "one", "IDX_ANSWER_URL": model.url}
        with served_here(samples, environment=variables) as server:
            for other in ("openai:other", "other", "one "):
                assert asked(server, answer_model=other).status_code == 403
            assert model.requests == []
            assert asked(server, answer_model="one").json()["answer"]
