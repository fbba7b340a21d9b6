"""What `idx eval` refuses, and what it says of it."""

from pathlib import Path

import pytest

from shared.installation import extra_command
from tests.conftest import Idx
from tests.idx.collection import BEIR, write_beir
from tests.systems import evaluates

pytestmark = evaluates


@pytest.fixture(autouse=True)
def _collection(tmp_path: Path) -> None:
    write_beir(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--set", "titel=2"], "there is no weight 'titel'; did you mean 'title'?"),
        (["--set", "title"], "'title' is not NAME=VALUE"),
        (["--set", "title=much"], "title is 'much', which is not a number from 0"),
        (["--set", "title=-1"], "title is '-1', which is not a number from 0"),
        (["--set", "b=2"], "b is '2', which is not a number from 0 to 1"),
        (["-k", "200"], "-k 200 is more than --limit 100"),
        (["--run", "nowhere/run.txt"], "there is no folder nowhere to write nowhere/run.txt into"),
    ],
)
def test_wrong_usage(idx: Idx, arguments: list[str], reason: str) -> None:
    failed = idx("eval", *BEIR, *arguments, code=2)
    # The library draws a frame around the message and breaks its lines.
    assert reason in " ".join(failed.stderr.replace("│", " ").split())


@pytest.mark.parametrize(
    ("name", "line", "reason"),
    [
        ("queries.jsonl", '{"_id": "q1", "text": "x"}', "line 6: the query 'q1' was on line 1"),
        ("corpus.jsonl", "{", "line 7: is not valid JSON: "),
        ("test.tsv", "q1\td1", "line 10: has 2 columns instead of 3"),
    ],
)
def test_a_broken_line_is_named(
    idx: Idx, tmp_path: Path, name: str, line: str, reason: str
) -> None:
    with (tmp_path / name).open("a") as file:
        file.write(line + "\n")
    failed = idx("eval", *BEIR, code=1)
    assert failed.stderr.splitlines()[-1].startswith(f"Error: {name}: {reason}")
    assert failed.stdout == ""


def test_ids_that_are_others_are_an_error(idx: Idx, tmp_path: Path) -> None:
    (tmp_path / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\td1\t1\n")
    failed = idx("eval", *BEIR, code=1)
    assert "test.tsv: no query of queries.jsonl has a relevant document" in failed.stderr
    (tmp_path / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\t1\t1\n")
    assert "test.tsv: no document of it is among the documents" in idx("eval", *BEIR, code=1).stderr


@pytest.mark.soak
def test_an_id_that_a_run_file_cannot_hold_costs_no_older_one(idx: Idx, tmp_path: Path) -> None:
    idx("eval", *BEIR, "--run", "run.txt")
    before = (tmp_path / "run.txt").read_text()
    corpus = (tmp_path / "corpus.jsonl").read_text().replace('"d4"', '"d 4"')
    (tmp_path / "corpus.jsonl").write_text(corpus)
    failed = idx("eval", *BEIR, "--run", "run.txt", code=1)
    assert "run.txt: a run file is columns between blanks" in failed.stderr
    assert before
    assert (tmp_path / "run.txt").read_text() == before


def test_a_query_that_is_no_syntax_is_named(idx: Idx, tmp_path: Path) -> None:
    queries = (tmp_path / "queries.jsonl").read_text().replace("harbour", "harbour AND (")
    (tmp_path / "queries.jsonl").write_text(queries)
    assert "Error: query q2: Parse error" in idx("eval", *BEIR, "--syntax", "lucene", code=1).stderr


def test_without_the_extra_the_command_says_what_to_install(
    idx: Idx, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['ir_measures'] = None\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    failed = idx("eval", *BEIR, code=1)
    assert failed.stderr == (
        'Error: idx eval needs the extra "evaluation" (ir_measures is not installed); install it '
        f"with: {extra_command('evaluation')}\n"
    )
