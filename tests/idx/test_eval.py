"""`idx eval` on a collection whose measures can be worked out by hand."""

import json
import re
import shlex
from math import log2
from pathlib import Path
from typing import Any

import pytest

from idx.evaluation.experiment import ranking
from shared import Document, Index
from shared.installation import extra_command
from shared.model.search_results import Hit
from tests.conftest import Idx
from tests.idx.collection import BEIR, DOCUMENTS, TREC, json_lines, write_beir, write_qrels
from tests.systems import evaluates

pytestmark = evaluates

ROOT = Path(__file__).parents[2]
SECOND = 1 / log2(3)
"""What a relevant document is worth at the second place; 1 at the first, and then 1 / 2."""


@pytest.fixture(autouse=True)
def _collection(tmp_path: Path) -> None:
    write_beir(tmp_path)


def figures(report: dict[str, Any], configuration: int = 0) -> dict[str, float]:
    measures = report["configurations"][configuration]["measures"]
    return {measure["measure"]: measure["mean"] for measure in measures}


def test_the_measures_are_those_worked_out_by_hand(idx: Idx) -> None:
    temporary = idx.folder / "temporary"
    temporary.mkdir()
    idx.setenv("TMPDIR", str(temporary))
    done = idx("eval", *BEIR, "-k", 10, "-k", 1, "--json", "--run", "run.txt")
    report = json.loads(done.stdout)
    # lantern: d1, d2, d3; harbour: d4; zeppelin: nothing; compass: d5, d6.
    ndcg = {"q1": (2 * SECOND + 1 / 2) / (2 + SECOND), "q2": 1 / (1 + SECOND), "q3": 0, "q4": 1}
    assert {query["id"]: query["ndcg"] for query in report["queries"]} == {
        id_: [pytest.approx(value)] for id_, value in ndcg.items()
    }
    assert figures(report) == pytest.approx(
        {
            "nDCG@10": sum(ndcg.values()) / 4,
            "P@1": 2 / 4,
            "P@10": (2 + 1 + 0 + 1) / 10 / 4,
            "R@1": (0 + 1 / 2 + 0 + 1) / 4,
            "R@10": (1 + 1 / 2 + 0 + 1) / 4,
            "MAP": ((1 / 2 + 2 / 3) / 2 + 1 / 2 + 0 + 1) / 4,
            "MRR": (1 / 2 + 1 + 0 + 1) / 4,
            "Success@1": 2 / 4,
            "Success@10": 3 / 4,
        }
    )
    (result,) = report["configurations"]
    for measure in result["measures"]:
        assert 0 <= measure["low"] <= measure["mean"] <= measure["high"] <= 1
    # Of the values 1, 0, 1, 1 hardly any draw has the mean 0, and many have the mean 1.
    assert (result["measures"][-1]["low"], result["measures"][-1]["high"]) == (0.25, 1)
    assert result["queries_without_results"] == 1
    assert (report["documents"], report["evaluated_queries"]) == (6, 4)
    assert report["skipped_queries"] == 1
    assert "Warning: 1 of 5 queries have no relevant document in test.tsv" in done.stderr
    run = [line.split() for line in (idx.folder / "run.txt").read_text().splitlines()]
    assert [line[:4] for line in run] == [
        ["q1", "Q0", "d1", "1"],
        ["q1", "Q0", "d2", "2"],
        ["q1", "Q0", "d3", "3"],
        ["q2", "Q0", "d4", "1"],
        ["q4", "Q0", "d5", "1"],
        ["q4", "Q0", "d6", "2"],
    ]
    assert all(float(line[4]) > 0 and line[5] == "default" for line in run)
    assert list(temporary.iterdir()) == []
    assert not (idx.folder / "lucene-index").exists()


@pytest.mark.soak
def test_judgements_of_trec_give_the_same(idx: Idx) -> None:
    write_qrels(idx.folder)
    reports = [idx.json("eval", *files) for files in (BEIR, TREC)]
    assert reports[0] == reports[1]


def test_the_report_is_a_table(idx: Idx) -> None:
    shown = idx("eval", *BEIR).stdout
    assert shown.startswith("6 documents; 4 queries, 100 documents retrieved for each\n")
    rows = [line.split() for line in shown.splitlines()]
    assert [row[:2] for row in rows if row[:1] == ["MRR"]] == [["MRR", "0.625"]]
    assert ["Queries", "without", "results", "1"] in rows


def test_two_configurations_are_compared(idx: Idx) -> None:
    settings = ("--set", "title_stems=0", "--set", "stems=1")
    report = idx.json("eval", *BEIR, *settings, "--run", "run.txt")
    assert [result["name"] for result in report["configurations"]] == [
        "default",
        "title_stems=0, stems=1",
    ]
    (changed,) = report["changed_queries"]
    assert changed == {"id": "q4", "text": "compass", "ndcg": [1, pytest.approx(SECOND)]}
    ndcg = report["differences"][0]
    assert ndcg["mean"] == pytest.approx((SECOND - 1) / 4)
    assert (ndcg["better"], ndcg["equal"], ndcg["worse"]) == (0, 3 / 4, 1 / 4)
    assert ndcg["high"] == 0
    assert SECOND - 1 < ndcg["low"] < ndcg["mean"]
    assert figures(report, 1)["MRR"] == pytest.approx(figures(report)["MRR"] - 1 / 8)
    assert "q4 Q0 d6 1 " in (idx.folder / "run.txt").read_text()
    assert (idx.folder / "run.txt").read_text().count(" title_stems=0_stems=1\n") == 6
    shown = idx("eval", *BEIR, *settings).stdout
    assert "Compared: the default weights, and title_stems=0, stems=1" in shown
    assert ["q4", "1.000", "0.631", "-0.369", "compass"] in [
        line.split() for line in shown.splitlines()
    ]
    assert "-0.369" not in idx("eval", *BEIR, *settings, "--diff", 0).stdout


def test_an_index_that_is_there_is_asked_and_left_as_it_is(idx: Idx, empty_index: Path) -> None:
    with Index(empty_index) as index:
        for id_, (title, text) in DOCUMENTS.items():
            if id_ != "d5":
                index.add(Document(id_, title, text))
    before = {file.name: file.stat().st_mtime_ns for file in empty_index.iterdir()}
    done = idx("eval", *BEIR[2:], "--json", "--index-path", empty_index)
    report = json.loads(done.stdout)
    assert report["documents"] == 5
    assert {query["id"]: query["ndcg"] for query in report["queries"]}["q4"] == [0]
    assert "Warning: 2 of 8 judgements are of unknown documents" in done.stderr
    assert {file.name: file.stat().st_mtime_ns for file in empty_index.iterdir()} == before


def test_a_document_counts_once_and_leaves_room_for_others(idx: Idx) -> None:
    long = {"_id": "long", "title": "Long", "text": "beacon " * 3000}
    short = [
        {"_id": f"short{number:02}", "title": "Short", "text": "A beacon can be seen from afar"}
        for number in range(12)
    ]
    (idx.folder / "corpus.jsonl").write_text(json_lines([long, *short]))
    (idx.folder / "queries.jsonl").write_text(json_lines([{"_id": "q", "text": "beacon"}]))
    (idx.folder / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\tlong\t1\n")
    idx("eval", *BEIR, "--limit", 10, "--run", "run.txt")
    run = (idx.folder / "run.txt").read_text().splitlines()
    found = [line.split()[2] for line in run]
    assert found[0] == "long"
    assert len(set(found)) == len(found) == 10


def test_equal_scores_keep_their_order() -> None:
    def hit(document: str, chunk: int, score: float) -> Hit:
        return Hit(
            id=f"{document}-{chunk}",
            title="T",
            content=None,
            source_document=document,
            chunk_index=chunk,
            score=score,
            confidence=0.5,
            has_next=False,
            has_previous=False,
            passages=None,
            metadata={},
        )

    hits = [hit("a", 2, 0.1), hit("b", 1, 0.1), hit("a", 1, 0.1), hit("c", 1, 0.1), hit("d", 1, 0)]
    ranked = ranking(hits, 3)
    assert [*ranked] == ["a", "b", "c"]
    assert ranked["a"] > ranked["b"] > ranked["c"] > 0.0999999
    # As trec_eval reads them from a run file.
    assert len({f"{score:.9g}" for score in ranked.values()}) == 3


def test_the_session_of_the_page_is_real(idx: Idx) -> None:
    # As on a terminal, which the page shows; a pipe gets tabs.
    idx.setenv("COLUMNS", "110")
    page = (ROOT / "docs" / "evaluation.md").read_text()
    (session,) = re.findall(r"```console\n(.*?)```", page, re.DOTALL)
    for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", session, re.MULTILINE):
        program, *arguments = shlex.split(command)
        if program == "cat":
            (idx.folder / arguments[0]).write_text(output)
            continue
        shown = idx(*arguments).stdout
        assert [line.rstrip() for line in shown.splitlines()] == output.splitlines()


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
def test_a_broken_line_is_named(idx: Idx, name: str, line: str, reason: str) -> None:
    with (idx.folder / name).open("a") as file:
        file.write(line + "\n")
    failed = idx("eval", *BEIR, code=1)
    assert failed.stderr.splitlines()[-1].startswith(f"Error: {name}: {reason}")
    assert failed.stdout == ""


def test_ids_that_are_others_are_an_error(idx: Idx) -> None:
    (idx.folder / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\td1\t1\n")
    failed = idx("eval", *BEIR, code=1)
    assert "test.tsv: no query of queries.jsonl has a relevant document" in failed.stderr
    (idx.folder / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\t1\t1\n")
    assert "test.tsv: no document of it is among the documents" in idx("eval", *BEIR, code=1).stderr


@pytest.mark.soak
def test_an_id_that_a_run_file_cannot_hold_costs_no_older_one(idx: Idx) -> None:
    idx("eval", *BEIR, "--run", "run.txt")
    before = (idx.folder / "run.txt").read_text()
    corpus = (idx.folder / "corpus.jsonl").read_text().replace('"d4"', '"d 4"')
    (idx.folder / "corpus.jsonl").write_text(corpus)
    failed = idx("eval", *BEIR, "--run", "run.txt", code=1)
    assert "run.txt: a run file is columns between blanks" in failed.stderr
    assert before
    assert (idx.folder / "run.txt").read_text() == before


def test_a_query_that_is_no_syntax_is_named(idx: Idx) -> None:
    queries = (idx.folder / "queries.jsonl").read_text().replace("harbour", "harbour AND (")
    (idx.folder / "queries.jsonl").write_text(queries)
    assert "Error: query q2: Parse error" in idx("eval", *BEIR, "--syntax", "lucene", code=1).stderr


def test_without_the_extra_the_command_says_what_to_install(idx: Idx) -> None:
    idx.without("ir_measures")
    failed = idx("eval", *BEIR, code=1)
    assert failed.stderr == (
        'Error: idx eval needs the extra "evaluation" (ir_measures is not installed); install it '
        f"with: {extra_command('evaluation')}\n"
    )
