"""The answer box of the search page, without JavaScript."""

from pathlib import Path

import pytest

from tests.model_server import quoting, sends_bytes, serving, streams
from tests.server.api.test_answers import QUESTION, QUOTE, answering
from tests.server.http.served import Served, served_here
from tests.server.pages.browsing import visit


def test_there_is_no_box_without_a_model(api: Served) -> None:
    assert visit(api, "/", q="deposit").texts("#answer") == []


def test_an_answer_shows_what_is_proven_and_what_is_not(samples: Path, tmp_path: Path) -> None:
    told = "They paid £1,130 [1]. It is <b>gone</b>."
    with answering(samples, streams(quoting(told, QUOTE)), tmp_path / "log") as server:
        page = visit(server, "/", q=QUESTION)
        assert page.texts("#answer button") == ["Answer from the documents"]
        assert page.texts("#answer .text") == [""]
        page = visit(server, "/", q=QUESTION, answer="true")
        assert page.texts("#answer .text") == [f"{told} (no source)"]
        assert page.texts("#answer .unproven") == ["It is <b>gone</b>. (no source)"]
        (link,) = page.tree.cssselect("#answer .text a")
        (source,) = page.tree.cssselect(f"{link.get('href')}.holds")
        assert source.tag == "li"
        assert page.texts("#answer q") == [QUOTE]
        (address,) = page.links("#answer .sources a")
        assert "/documents/lease-garden-flat.txt?" in address
        assert "#chunk-" in address


def test_a_question_that_is_too_long_still_has_its_results(samples: Path, tmp_path: Path) -> None:
    truth = streams(quoting("They paid £1,130 [1].", QUOTE))
    with answering(samples, truth, tmp_path / "log") as server:
        page = visit(server, "/", q="deposit of the flat " * 60, answer="true")
        (said,) = page.texts("#answer .text")
        assert "longer than 1,000 characters" in said
        assert "lease-garden-flat.txt" in " ".join(page.links("main a"))


def test_a_refusal_has_no_text_of_the_model(samples: Path, tmp_path: Path) -> None:
    lie = streams(quoting("It is £9,999 [1].", "the deposit is £9,999"))
    with answering(samples, lie, tmp_path / "log") as server:
        page = visit(server, "/", q=QUESTION, answer="true")
        assert page.texts("#answer .text") == ["The documents do not answer this question."]
        # The nearest documents are the results below.
        assert "lease-garden-flat.txt" in " ".join(page.links("main a"))


@pytest.mark.parametrize("status", [500, 200])
def test_trouble_with_a_model_is_a_sentence(samples: Path, tmp_path: Path, status: int) -> None:
    with serving(sends_bytes(b"<html>secret-of-the-server", status)) as model:
        variables = {"IDX_ANSWER_MODEL": "test", "IDX_ANSWER_URL": model.url}
        with served_here(samples, log=tmp_path / "log", environment=variables) as server:
            page = visit(server, "/", q=QUESTION, answer="true")
            (said,) = page.texts("#answer .text")
            assert "language model" in said
            assert "secret-of-the-server" not in page.response.text
