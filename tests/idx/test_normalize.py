"""`idx search --normalize`: a language model rewrites the query, and may fail as it likes."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shared import Document, Index
from shared.installation import extra_command
from tests.configured import shown, write
from tests.conftest import Idx
from tests.model_server import TROUBLES, ModelServer, Trouble, says, serving

pytestmark = pytest.mark.soak

QUERY = "Wie lange ist die Kündigungsfrist der Werkstatt?"
REWRITTEN = "workshop notice period"
KEY = "sk-swordfish"


def write_documents(path: Path) -> None:
    with Index(path) as index:
        english = "The workshop can be given up with notice, for a period of three months."
        index.add(Document("english", "Agreement", english))
        index.add(Document("german", "Notiz", "Die Werkstatt ist im Hof."))


@pytest.fixture(autouse=True)
def _documents(empty_index: Path) -> None:
    write_documents(empty_index)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A good model, named by the variables."""
    with serving(says(REWRITTEN)) as server:
        monkeypatch.setenv("IDX_NORMALIZER_MODEL", "small")
        monkeypatch.setenv("IDX_NORMALIZER_URL", server.url)
        monkeypatch.setenv("IDX_NORMALIZER_TIMEOUT", "20")
        yield server


def documents(answer: dict[str, Any]) -> list[str]:
    return [hit["source_document"] for hit in answer["results"]]


def searched(idx: Idx, *arguments: str) -> dict[str, Any]:
    answer: dict[str, Any] = idx.json("search", QUERY, *arguments)
    return answer


def test_a_question_finds_what_is_written_in_english(idx: Idx, model: ModelServer) -> None:
    without, answer = searched(idx), searched(idx, "--normalize")
    assert documents(without) == ["german"]
    assert {"rewritten", "diagnostics"}.isdisjoint(without)
    assert set(documents(answer)) == {"german", "english"}
    assert (answer["query"], answer["rewritten"]) == (QUERY, REWRITTEN)
    assert "diagnostics" not in answer
    assert not answer["low_confidence"]
    assert [request.body["model"] for request in model.requests] == ["small"]


def test_people_are_told_what_was_looked_for(idx: Idx, model: ModelServer) -> None:
    done = idx("search", QUERY, "--normalize")
    assert "**workshop**" in done.stdout
    assert f"Also searched for: {REWRITTEN}\n" in done.stderr


@pytest.mark.parametrize(
    "name", ["silent", "endless", "error 401", "no JSON", "blank", "control characters"]
)
def test_without_an_answer_the_query_is_searched_as_it_is(idx: Idx, name: str) -> None:
    trouble: Trouble = TROUBLES[name]
    idx.setenv("IDX_NORMALIZER_API_KEY", KEY)
    with serving(trouble.answer) as server:
        options = ("--normalize", "--normalizer-model", "m", "--normalizer-url", server.url)
        limit = ("--normalizer-timeout", str(trouble.timeout))
        done = idx("search", QUERY, "--json", *options, *limit)
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    answer = json.loads(done.stdout)
    (diagnostic,) = answer.pop("diagnostics")
    assert trouble.diagnostic in diagnostic
    assert done.stderr == f"{diagnostic}\n"
    assert answer == searched(idx)
    assert KEY not in done.stdout + done.stderr


def test_without_a_model_too(idx: Idx) -> None:
    done = idx("search", QUERY, "--normalize")
    assert "1 chunk matches" in done.stderr
    assert done.stderr.startswith(
        "The query was not rewritten: there is no language model; name one in "
        "IDX_NORMALIZER_MODEL, or with the setting normalizer_model.\n"
    )


def test_without_the_extra_too(idx: Idx, model: ModelServer) -> None:
    idx.without("openai")
    (diagnostic,) = searched(idx, "--normalize")["diagnostics"]
    assert diagnostic == (
        'The query was not rewritten: rewriting needs the extra "normalizer" '
        "(openai is not installed); install it with: "
        f"{extra_command('normalizer')}."
    )
    assert model.requests == []


def test_an_extra_that_is_too_old_is_named(idx: Idx, model: ModelServer, tmp_path: Path) -> None:
    (tmp_path / "openai.py").write_text("")
    idx.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    (diagnostic,) = searched(idx, "--normalize")["diagnostics"]
    assert "openai cannot be loaded" in diagnostic
    assert "mcp-lucene[normalizer]" in diagnostic


def test_it_can_be_switched_on_for_good(idx: Idx, model: ModelServer) -> None:
    write("normalize = true\nnormalizer_model = 'of the file'")
    assert searched(idx)["rewritten"] == REWRITTEN
    assert "rewritten" not in searched(idx, "--no-normalize")
    assert searched(idx, "--normalizer-model", "other")["rewritten"] == REWRITTEN
    # The variable of the fixture beats the file.
    assert [request.body["model"] for request in model.requests] == ["small", "other"]


def test_the_key_is_in_the_environment_only(idx: Idx) -> None:
    idx.setenv("IDX_NORMALIZER_API_KEY", KEY)
    assert KEY not in idx("config", "show").stdout
    assert idx("search", "x").stderr == "0 chunks match; shown: none.\n"
    assert "normalizer_api_key" not in shown(idx)
    write(f"normalizer_api_key = '{KEY}'")
    failed = idx("search", "x", code=1)
    assert "normalizer_api_key is not a setting" in failed.stderr
    assert KEY not in failed.stderr


@pytest.mark.parametrize("named_by", ["option", "variable", "file"])
def test_an_address_with_a_password_is_refused_and_not_shown(idx: Idx, named_by: str) -> None:
    url = f"http://me:{KEY}@localhost/v1"
    if named_by == "variable":
        idx.setenv("IDX_NORMALIZER_URL", url)
    if named_by == "file":
        write(f"normalizer_url = '{url}'")
    option = ("--normalizer-url", url) if named_by == "option" else ()
    failed = idx("search", "x", "--normalize", *option, code=1)
    assert re.search(r"normalizer_url: .*IDX_NORMALIZER_API_KEY", failed.stderr)
    assert KEY not in failed.stderr
    if named_by != "option":
        assert KEY not in idx("config", "show", code=1).stderr


def test_a_query_with_syntax_stays_as_it_is(idx: Idx, model: ModelServer) -> None:
    done = idx("search", '"im Hof"', "--normalize")
    assert done.stderr.startswith("The query was not rewritten: it contains query syntax.\n")
    assert "Notiz" in done.stdout
    assert model.requests == []


def test_a_wrong_timeout_is_wrong_usage(idx: Idx) -> None:
    assert "--normalizer-timeout" in idx("search", "x", "--normalizer-timeout", "0", code=2).stderr
