"""A small test collection, with judgements in the formats of BEIR and of TREC."""

import json
from pathlib import Path

DOCUMENTS = {
    "d1": ("One", "lantern lantern lantern lamp"),
    "d2": ("Two", "lantern lantern lamp lamp"),
    "d3": ("Three", "lantern lamp lamp lamp"),
    "d4": ("Four", "The harbour lies in the south"),
    "d5": ("Compass", "The needle points north"),
    "d6": ("Six", "compass compass compass north"),
}

QUERIES = {
    "q1": "lantern",
    "q2": "harbour",
    "q3": "zeppelin",
    "q4": "compass",
    "q5": "never judged",
}

JUDGEMENTS = (
    ("q1", "d1", 0),
    ("q1", "d2", 2),
    ("q1", "d3", 1),
    ("q2", "d4", 1),
    ("q2", "d5", 1),
    ("q2", "d6", -1),
    ("q3", "d6", 1),
    ("q4", "d5", 1),
)

BEIR = ("--documents", "corpus.jsonl", "--queries", "queries.jsonl", "--qrels", "test.tsv")
TREC = (*BEIR[:-1], "qrels")


def json_lines(entries: list[dict[str, str]]) -> str:
    return "".join(f"{json.dumps(entry)}\n" for entry in entries)


def write_beir(folder: Path) -> None:
    documents = [
        {"_id": id_, "title": title, "text": text} for id_, (title, text) in DOCUMENTS.items()
    ]
    queries = [{"_id": id_, "text": text} for id_, text in QUERIES.items()]
    (folder / "corpus.jsonl").write_text(json_lines(documents))
    (folder / "queries.jsonl").write_text(json_lines(queries))
    (folder / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\n"
        + "".join(f"{query}\t{document}\t{gain}\n" for query, document, gain in JUDGEMENTS)
    )


def write_qrels(folder: Path) -> None:
    (folder / "qrels").write_text(
        "".join(f"{query} 0 {document} {gain}\n" for query, document, gain in JUDGEMENTS)
    )
