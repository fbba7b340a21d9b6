"""Words of a query that count, and names before a colon."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from shared import Document, Searcher
from shared.model.document import Metadata
from tests.conftest import Idx, add_documents, connected
from tests.idx.preparation import index_files
from tests.server.tool_answers import answer

Found = Callable[..., tuple[set[str], str]]

MAIL = """\
From: Alice Jones <alice@example.org>
To: Bob <bob@example.org>
Subject: {subject}
Date: Mon, 6 May 2024 10:00:00 +0000

Dear Bob, {text}
"""

GERMAN = "Der Mietvertrag über die Wohnung endet am letzten Tag des Jahres, sagte der Vermieter."
ENGLISH = "The contract for the flat ends on the last day of the year, as the landlord has said."

FILES = {
    "contracts/2024/lease.md": f"---\nauthor: Matthew Smith\n---\n# Lease\n\n{ENGLISH}\n",
    "contracts/rent.txt": GERMAN,
    "Contracts old/lease.html": f"<html><title>Lease</title><body><p>{ENGLISH}</p></body></html>",
    "mails/budget.eml": MAIL.format(subject="Budget of the garden", text=ENGLISH),
    "mails/party.eml": MAIL.format(subject="Summer party", text="we meet in the garden at noon."),
    "notes/report.yml": "colour: the contract of bar\nauthors: MÜLLER\n",
}

LEASE, RENT, OLD, BUDGET, PARTY, REPORT = FILES


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an index of some files and of documents without files."""
    folder = tmp_path_factory.mktemp("named")
    for name, text in FILES.items():
        file = folder / "office" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    book: Metadata = {
        "author": ["Anna Müller", "Zoë Ng-Tan"],
        "year": 2020,
        "created": "2024-05-06",
    }
    index_files(folder / "index", "office")
    add_documents(
        folder / "index",
        Document("book", "Book", "a word on lamps", book),
        Document("film", "Film", "a word on lamps", {"author": "Ann", "year": 2022.5}),
    )
    return folder


@pytest.fixture(scope="module")
def searcher(folder: Path) -> Iterator[Searcher]:
    with Searcher(folder / "index") as searcher:
        yield searcher


@pytest.fixture
def found(searcher: Searcher) -> Found:
    """What a query finds, with the note of the answer."""

    def search(query: str, **options: Any) -> tuple[set[str], str]:
        answer = searcher.search(query, **options)
        return {hit.source_document for hit in answer.results}, answer.note or ""

    return search


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("author:MATTHEW", {LEASE}),
        ("author:smith", {LEASE}),
        ('author:"matthew SMITH"', {LEASE}),
        ("author:muller", {"book"}),
        ("author:Mueller", {"book"}),
        ("author:ng", {"book"}),
        ("author:zoe", {"book"}),
        ("author:ann", {"film"}),
        ("author:ann*", {"book", "film"}),
        ("metadata.author:ANN", {"film"}),
        ("+author:ann -lamps", set()),
        ("year:[2020 TO 2021]", {"book"}),
        ("year:2020", {"book"}),
        ("year:2022", set()),
        ("created:2024-05", {"book", BUDGET, PARTY}),
        ("created:[2024-05-06 TO 2024-05-06T09]", {"book"}),
        ("title:lease", {LEASE, OLD}),
        ("subject:budget", {BUDGET}),
        ('subject:"summer party"', {PARTY}),
        ("from:alice", {BUDGET, PARTY}),
        ("from:ALICE@example.org -party", {BUDGET}),
        ("filetype:eml", {BUDGET, PARTY}),
        ("filetype:.EML garden -party", {BUDGET}),
        ("ext:md", {LEASE}),
        ("type:yml", {REPORT}),
        ("filetype:html contract", {OLD}),
        ("filetype:yaml", {REPORT}),
        ("filetype:text/markdown", {LEASE}),
        ("filetype:(md txt)", {LEASE, RENT}),
        ("filetype:md OR filetype:txt", {LEASE, RENT}),
        ("contract -filetype:eml -filetype:md", {OLD, REPORT}),
        ("language:de", {RENT}),
        ("language:DE contract", set()),
        ("folder:contracts", {LEASE, RENT}),
        ("folder:CONTRACTS lease", {LEASE}),
        ("folder:contracts/2024", {LEASE}),
        ("folder:contr*", {LEASE, RENT, OLD}),
        ('folder:"contracts old"', {OLD}),
        ("folder:office/mails", {BUDGET, PARTY}),
        ("folder:office party", {PARTY}),
        ("folder:contract", set()),
    ],
)
def test_a_name_before_a_colon_finds_what_it_means(found: Found, query: str, ids: set[str]) -> None:
    assert found(query)[0] == ids


def test_a_folder_is_found_by_its_path_and_as_a_filter(
    idx: Idx, found: Found, folder: Path
) -> None:
    path = folder / "office" / "contracts"
    assert found(f"folder:{path}")[0] == {LEASE, RENT}
    assert found(f'folder:"{path}/"')[0] == {LEASE, RENT}
    for condition, id_ in (("folder=contracts", LEASE), ("folder!=contracts", OLD)):
        named = idx.json("search", "lease", "--filter", condition, "-i", folder / "index")
        assert [hit["source_document"] for hit in named["results"]] == [id_]


@pytest.mark.parametrize(
    ("query", "id_", "unknown"),
    [
        ("foo:bar", REPORT, "'foo' is not a field"),
        ("colour:bar", REPORT, "'colour' is not a field"),
        ("sender:alice", BUDGET, "'sender' is not a field"),
        ("to:bob", BUDGET, "'to' is not a field"),
        ("type:contract", LEASE, "'type' is not a field"),
        ('foo:"the contract"', LEASE, "'foo' is not a field"),
        ("foo:bar sender:alice (", REPORT, "'foo' and 'sender' are not fields"),
    ],
)
def test_a_name_that_is_no_field_is_text_and_the_answer_names_the_fields(
    found: Found, query: str, id_: str, unknown: str
) -> None:
    ids, note = found(query)
    assert id_ in ids
    assert unknown in note
    assert "The fields are title, " in note
    assert {"author", "filetype", "folder", "language", "from"} <= set(
        note.partition("The fields are ")[2].rstrip(".").split(", ")
    )


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("author:nobody", "No document has 'nobody' in its author."),
        ("filetype:docx", "No document has the file_extension 'docx'; there are eml, html, md,"),
        ("language:xx", "No document has the language 'xx'; there are de, en"),
        ("folder:nowhere", "No file of the index lies in a folder 'nowhere'."),
        ("colour:bar", "'colour' is not a field"),
    ],
)
def test_nothing_is_found_silently(found: Found, query: str, note: str) -> None:
    assert note in found(query)[1]


@pytest.mark.parametrize(
    ("condition", "note"),
    [
        ("language=EN", "No document has the language 'EN'; there are de, en"),
        ("file_extension=.docx|.md", "No document has the file_extension '.docx'; there are eml,"),
        ("author=nobody", "No document has the author 'nobody'"),
        ("language=de|xx", ""),
        ("language!=xx", ""),
        ("folder=nowhere", ""),
        ("file_path=nowhere", ""),
        ("author=Matthew Smith", ""),
    ],
)
def test_a_filter_that_leaves_nothing_by_its_value_is_noted(
    idx: Idx, folder: Path, condition: str, note: str
) -> None:
    shown = idx("search", "zebra", "--filter", condition, "-i", folder / "index")
    assert "0 chunks match" in shown.stderr
    assert note in shown.stderr
    assert ("No document has" in shown.stderr) == bool(note)
    arguments = ("zebra", "--filter", condition, "-i", folder / "index", "--explain")
    assert note in idx.json("search", *arguments).get("note", "")


@pytest.mark.parametrize(
    "query", ["https://example.org/a?b=c", "12:30", "std::vector", "note: this", "C:\\x"]
)
def test_a_colon_of_plain_text_needs_no_note(found: Found, query: str) -> None:
    assert found(query)[1] == ""


def test_lucenes_syntax_names_unknown_fields(idx: Idx, folder: Path) -> None:
    arguments = ("foo:bar contract", "--syntax", "lucene", "-i", folder / "index")
    answer = idx.json("search", *arguments)
    assert LEASE in [hit["source_document"] for hit in answer["results"]]
    assert "'foo' is not a field" in answer["note"]


def test_a_filter_changes_no_score_and_can_be_explained(
    idx: Idx, searcher: Searcher, folder: Path
) -> None:
    def hits(query: str) -> dict[str, float]:
        answer = searcher.search(query)
        return {hit.source_document: hit.score for hit in answer.results}

    assert hits("lease filetype:md")[LEASE] == pytest.approx(hits("lease")[LEASE])
    explained = idx("search", "lease filetype:md -language:de", "--explain", "-i", folder / "index")
    assert "lease #file_extension:(markdown md) -language:de" in explained.stdout


async def test_a_client_filters_by_what_it_types(folder: Path) -> None:
    async with connected(folder / "index") as client:
        asked = {"query": "garden folder:mails -filetype:md subject:BUDGET"}
        result = answer(await client.call_tool("Search", asked))
        assert [hit["source_document"] for hit in result["results"]] == [BUDGET, PARTY]
        assert "note" not in result
        result = answer(await client.call_tool("Search", {"query": "sender:alice"}))
        assert "'sender' is not a field of this index" in result["note"]


TEXTS = {
    "deposit": "The deposit of two months of rent has to be paid before the keys are handed over.",
    "garden": "What is in the garden belongs to all of the people who live in the house.",
    "office": "The IT department of the company answers questions about the printer.",
    "code": "The option max_retry_count of the program decides how often it tries again.",
    "mail": "Send an e-mail to the caretaker when the light in the hall does not work.",
    "vertrag": "Der Contract mit dem Lieferanten liegt im Ordner, und die Rechnung ist bezahlt.",
    "annex": "The annex says that the Vertrag of the tenant ends with the month of May.",
    "dum": "Starý dům stojí na konci vesnice a jeho majitel ho chce příští rok prodat městu.",
    "lazienka": "Wynajmujący ma odnowić łazienkę przed końcem miesiąca i zapłacić za materiały.",
}


@pytest.fixture
def searched(idx: Idx) -> Idx:
    entries = [{"Id": name, "Title": "Text", "Content": text} for name, text in TEXTS.items()]
    idx("bulk", "-j", "-", stdin=json.dumps(entries))
    return idx


def test_what_each_word_finds(searched: Idx) -> None:
    for query, found in {
        # Function words count only if nothing else is asked, in quotes, or with a plus.
        "what is the deposit": ["deposit"],
        "what": ["garden"],
        '"what" deposit': ["deposit", "garden"],
        "+what deposit": ["garden"],
        # In capitals they are names.
        "IT": ["office"],
        "retry": ["code"],
        "max_retry_count": ["code"],
        "email": ["mail"],
        "e-mails": ["mail"],
        "Vertrages": ["annex"],
        "lazienke": ["lazienka"],
        "pristi": ["dum"],
        "mesto": ["dum"],
        "pays": ["deposit"],
    }.items():
        hits = searched.json("search", query)["results"]
        assert sorted(hit["source_document"] for hit in hits) == found, query


def test_under_a_filter_on_the_language_words_are_still_found(idx: Idx) -> None:
    german = "Die Miete ist am ersten Tag eines Monats zu zahlen, die Kaution beträgt zwei Mieten."
    english = "The weather on the island was rather pleasant for the whole of the month of May."
    texts = {"long": german, "too short to tell": "Häuser", "quotes English": english}
    entries = [
        {"Id": name, "Title": "Text", "Content": text, "language": "de"}
        for name, text in texts.items()
    ]
    entries.append({"Id": "en", "Title": "Text", "Content": english, "language": "en"})
    idx("bulk", "-j", "-", stdin=json.dumps(entries))
    for query, found in {
        "Mieten": ["long"],
        "Häuser": ["too short to tell"],
        "Haus": ["too short to tell"],
        "weather": ["quotes English"],
    }.items():
        shown = idx.json("search", query, "--filter", "language=de")
        assert [hit["source_document"] for hit in shown["results"]] == found, query
