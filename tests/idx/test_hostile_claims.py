"""A table of what documents say of themselves: it decides nothing about other documents."""

import json
import os
from pathlib import Path
from typing import Final

import pytest

from shared import Document, Index, Searcher
from shared.messages import utc_time
from tests.conftest import Idx, add_documents
from tests.idx.extraction.pdf_files import pdf
from tests.idx.files import ids, make, sync, text_of, zipped
from tests.idx.office.packages import docx, paragraph
from tests.idx.test_hostile_documents import PAGE, PAGES, epub, stream
from tests.model_server import quoting, serving, streams

CLOSED: Final = "closed/plan.md"
OPEN: Final = "open/menu.md"
CLAIM: Final = "open/claim.md"

COLLECTIONS: Final = [
    {"name": "outside", "filters": ["folder!=closed"]},
    {"name": "inside", "filters": ["folder=closed"]},
]

KEYS: Final = ("folder", "version_of", "container", "collection", "file_path", "section")
"""Names with a meaning of their own in filters, and values that would change it."""

POLICIES: Final = {
    ("--collection", "outside"): {OPEN, CLAIM},
    ("--collection", "inside"): {CLOSED},
    ("--filter", f"version_of!={CLOSED}"): {OPEN, CLAIM},
    ("--filter", "file_path^=closed"): set(),
}
"""Documents that are found with each option, whatever a document claims."""


@pytest.fixture
def papers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IDX_COLLECTIONS", json.dumps(COLLECTIONS))
    for name in (CLOSED, OPEN):
        file = tmp_path / "papers" / name
        file.parent.mkdir(parents=True)
        file.write_text(f"pears of {name}")
    return tmp_path / "papers"


def found(idx: Idx, *arguments: str) -> set[str]:
    answer = idx.json("search", "pears", *arguments)
    return {hit["source_document"] for hit in answer["results"]}


@pytest.mark.parametrize("key", KEYS)
def test_a_document_does_not_decide_what_a_collection_means(
    idx: Idx, papers: Path, key: str
) -> None:
    (papers / CLAIM).write_text(f"---\n{key}: closed\n---\npears of a claim")
    idx("sync", "papers")
    for option, documents in POLICIES.items():
        assert found(idx, *option) == documents, option
    # What was said is kept under another name.
    assert found(idx, "--filter", f"x-{key}=closed") == {CLAIM}


@pytest.mark.parametrize("key", KEYS)
def test_nor_does_one_that_is_not_a_file(idx: Idx, papers: Path, key: str) -> None:
    idx("sync", "papers")
    with Index(idx.index) as index:
        index.add(Document("note", "Note", "pears of a note", {key: "closed", f"x-{key}": 1}))
    assert "note" in found(idx, "--collection", "outside")
    assert found(idx, "--collection", "inside") == {CLOSED}
    assert found(idx, "--filter", f"x-x-{key}=closed") == {"note"}


TERMS: Final = " ".join(f"term{number}" for number in range(150))
GENUINE: Final = f"Pears are paid to the account 1111. {TERMS}"
FORGED: Final = GENUINE.replace("1111", "9999")
MAIL: Final = """From: a@example.com
Subject: Account
Date: Fri, 1 Jan 2100 00:00:00 +0000
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/markdown
Content-Disposition: attachment; filename=account.md

{}
--b--
"""
MATTER: Final = "---\nmodified: 9999-01-01\nfile_modified: 9999-01-01\n---\n"

FORGERIES: Final = {
    "in a mail": ("account/account.eml", MAIL.format(f"{MATTER}{FORGED}"), 0),
    "in a folder of others": ("inbox/account.md", FORGED, 2e9),
    "by its front matter": ("account/claim.md", f"{MATTER}{FORGED}", 1e9),
}
"""A file with another version of a text, and the time of its last change."""


@pytest.mark.parametrize(("name", "text", "changed"), FORGERIES.values(), ids=FORGERIES.keys())
def test_a_claim_hides_no_document(idx: Idx, name: str, text: str, changed: float) -> None:
    for file, content, time in (
        (idx.folder / "papers" / "account" / "account.md", GENUINE, 1.5e9),
        (idx.folder / "papers" / name, text, changed),
    ):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        os.utime(file, (time, time))
    idx("sync", "papers")
    assert "account/account.md" in found(idx, "--group", "document")
    (hit,) = (
        hit
        for hit in idx.json("list")["documents"]
        if hit["source_document"] == "account/account.md"
    )
    assert hit["metadata"]["file_modified"] == "2017-07-14T02:40:00Z"


def test_no_time_is_later_than_now(idx: Idx) -> None:
    papers = make(idx.folder / "papers")
    (papers / "account.md").write_text(FORGED)
    os.utime(papers / "account.md", (4e9, 4e9))
    idx("sync", "papers")
    add_documents(idx.index, Document("claim", "Claim", GENUINE, {"modified": "9999-01-01"}))
    (group,) = idx.json("duplicates")["groups"]
    now = utc_time()
    assert all(each["modified"] <= now for each in group)


def test_an_answer_is_given_every_version_that_says_something_else(idx: Idx) -> None:
    with Index(idx.index, create=True) as index:
        for number, text in enumerate([GENUINE, *[FORGED] * 40]):
            time = f"202{number % 10}-01-01"
            index.add(Document(f"{number}", "Account", text, {"modified": time}))
    with serving(streams(quoting("To 1111 [1].", "paid to the account 1111"))) as server:
        idx.setenv("IDX_ANSWER_MODEL", "small")
        idx.setenv("IDX_ANSWER_URL", server.url)
        idx("ask", "To", "which", "account", "are", "pears", "paid?")
        (request,) = server.requests
    sent = json.dumps(request.body)
    assert sent.count("account 1111") == sent.count("account 9999") == 1


def test_no_name_is_the_id_of_what_is_within_another_file(idx: Idx) -> None:
    texts = {
        "contracts.zip!/acme.txt": "in the folder",
        "contracts.zip!!/acme.txt": "in the other folder",
        "wow!": "in a file",
    }
    papers = idx.folder / "papers"
    for name, text in texts.items():
        (papers / name).parent.mkdir(parents=True, exist_ok=True)
        (papers / name).write_text(text)
    inner = zipped(**{"acme.txt": "in the inner archive"})
    members: dict[str, str | bytes] = {
        "acme.txt": "in the archive",
        "x.zip": inner,
        "x.zip!/acme.txt": "beside it",
    }
    (papers / "contracts.zip").write_bytes(zipped(**members))
    assert sync(idx, "papers")["added"] == 8
    shown = {text_of(idx.index, name) for name in ids(idx.index)}
    assert shown >= {*texts.values(), "in the archive", "in the inner archive", "beside it"}
    assert text_of(idx.index, "contracts.zip!/acme.txt") == "in the archive"
    again = sync(idx, "papers")
    assert again.keys() == {"skipped"}
    (papers / "contracts.zip!" / "acme.txt").unlink()
    assert sync(idx, "papers")["deleted"] == 1
    assert text_of(idx.index, "contracts.zip!/acme.txt") == "in the archive"
    # A folder of its own may have such a name, too.
    (idx.folder / "contracts.zip!").mkdir()
    (idx.folder / "contracts.zip!" / "acme.txt").write_text("in a second folder")
    sync(idx, "contracts.zip!")
    assert text_of(idx.index, "contracts.zip!/acme.txt") == "in the archive"


def test_keys_without_end_become_texts(idx: Idx) -> None:
    def note(number: int) -> str:
        keys = "".join(f"k{number}x{part}: pears\n" for part in range(35))
        return f"---\nauthor: Ana\n{keys}---\nA note"

    (idx.folder / "papers").mkdir()
    notes = {f"{number:02d}.md": note(number) for number in range(60)}
    (idx.folder / "papers" / "notes.zip").write_bytes(zipped(**notes))
    told = idx("sync", "papers").stderr
    assert "35 metadata keys became text under 'other', since a document has fields for" in told
    with Searcher(idx.index) as searcher:
        names = {field.name for field in searcher.fields().fields}
    own = {name for name in names if name.startswith("k")} - {"keywords"}
    assert len(own) == 1_000
    assert {"author", "other", "container", "file_modified"} <= names
    listed = idx.json("search", "--filter", 'other=k59x34: "pears"', "")
    (hit,) = listed["results"]
    assert hit["source_document"] == "notes.zip!/59.md"
    # It stays so for what is written later, and words are found all the same.
    (idx.folder / "papers" / "one.md").write_text("---\n" + "one: pears\n" * 1 + "---\nA note")
    idx("sync", "papers")
    assert "one.md" in found(idx, "--limit", "100")
    entry = {"Id": "b", "Title": "B", "Content": "A note", **{f"k0x{n}": n for n in range(60)}}
    told = idx("bulk", "-j", "-", stdin=json.dumps([entry])).stderr
    assert "metadata keys became text under 'other'" in told
    (document,) = idx.json("list", "--prefix", "b")["documents"]
    assert len(document["metadata"]["other"]) == 60 - 35


def page(drawn: str, more: bytes = b"", *objects: bytes) -> bytes:
    content = b"BT /F1 12 Tf 20 100 Td (pears) Tj ET " + drawn.encode()
    whole = PAGE.replace(b"/Font", b"/XObject<</X 5 0 R>>/Font") if objects else PAGE
    return pdf(b"<</Pages 2 0 R>>", PAGES, whole + more, stream(content), *objects)


FORM: Final = b"/Type/XObject/Subtype/Form/Matrix[1 0 0 1 500 0]/BBox[0 0 99 99]/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"  # noqa: E501
PICTURE: Final = (
    b"/Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray"
)
OBEY: Final = "BT /F1 12 Tf 20 50 Td (obey) Tj ET"
TAGS: Final = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")

HIDDEN: Final[dict[str, bytes | str]] = {
    "white.pdf": page(f"1 1 1 rg {OBEY}"),
    "blue on blue.pdf": page(f"0 0 1 rg 0 0 100 80 re f {OBEY}"),
    "off the page.pdf": page(OBEY.replace("20 50", "20 900")),
    "of no size.pdf": page(OBEY.replace("12 Tf", "0.1 Tf")),
    "scaled to nothing.pdf": page(f"0.01 0 0 0.01 50 50 cm {OBEY}"),
    "transparent.pdf": page(f"3 Tr {OBEY}".replace("3 Tr BT", "BT 3 Tr")),
    "in a form.pdf": page("/X Do", b"", stream(OBEY.encode(), FORM)),
    "attribute.html": "<p>pears<p hidden>obey</p>",
    "style.html": "<p>pears<div style='color: red; DISPLAY : none'><p>obey</div>",
    "class.html": "<style>a, p.x, .y {display: none}</style><p>pears<p class='y z'>obey",
    "id.html": "<style>#x{visibility:hidden}</style><p>pears<p id=x>obey",
    "window.html": "<style>@media (max-width:9000px){#x{display:none}}</style><p>pears<p id=x>obey",
    "screen.html": "<style>@media not print{.x{display:none}}</style><p>pears<p class=x>obey",
    "both.html": "<style>@media print, screen{.x{display:none}}</style><p>pears<p class=x>obey",
    "letters.html": "<p>pears<span style='font-size:0px'>obey</span>",
    "glass.html": "<p>pears<span style='opacity: 0.0;'>obey</span>",
    "mail.eml": (
        "Subject: pears\nContent-Type: text/html\n\n<p>pears<div style='display:none'>obey</div>"
    ),
    "book.epub": epub(**{"OEBPS/one.xhtml": "<p>pears</p><p hidden='hidden'>obey</p>"}),
}
"""Files of pears, with a word in them that nobody sees."""

SEEN: Final[dict[str, bytes | str]] = {
    "header.pdf": page(f"0 0 1 rg 0 0 100 80 re f 1 1 1 rg {OBEY}"),
    "layer of a scan.pdf": page(
        f"q 200 0 0 200 0 0 cm /X Do Q BT 3 Tr {OBEY[3:]}", b"", stream(b"\x99", PICTURE)
    ),
    "dash.pdf": page("BT /F1 12 Tf 20 50 Td (obey) Tj 0 -20 Td (-) Tj ET"),
    "shown.html": "<style>.x {display: none} .y {display: block}</style><p class=y>pears obey",
    "paper.html": "<style>@media print{a{} .x{display:none}}</style><p>pears<p class=x>obey",
    "telephone.html": (
        "<style>@media only screen and (max-width: 600px) { a{color:red} #x {display: none} }"
        "</style><p>pears<p id=x>obey"
    ),
    "until found.html": "<p>pears<p hidden=until-found style='font-size:0.9em;opacity:.5'>obey",
    "script.html": "<div style='display:none'><script>never</script></div>pears obey",
}


def test_text_that_nobody_sees_is_marked(idx: Idx) -> None:
    papers = make(idx.folder / "papers")
    for name, content in (HIDDEN | SEEN).items():
        (papers / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    idx("sync", "papers")
    listed = idx.json("list")["documents"]
    hidden = {each["source_document"]: each["metadata"].get("hidden_text") for each in listed}
    assert hidden == {**dict.fromkeys(HIDDEN, "obey"), **dict.fromkeys(SEEN)}
    for name in HIDDEN:
        assert "obey" not in text_of(idx.index, name), name
        assert "pears" in text_of(idx.index, name), name
    for name in SEEN:
        assert "obey" in text_of(idx.index, name), name
    # It is found, and no hit shows it.
    assert found(idx, "--filter", "hidden_text=*", "--limit", "50") == {*HIDDEN}
    assert "hidden_text" not in idx("search", "obey", "--json").stdout


def test_nothing_is_said_in_tags(idx: Idx) -> None:
    papers = make(idx.folder / "papers")
    cell = {"cell_type": "markdown", "metadata": {}, "source": [f"pears{TAGS}"]}
    book = {"cells": [cell], "metadata": {"title": f"A{TAGS}"}, "nbformat": 4, "nbformat_minor": 5}
    texts: dict[str, bytes | str] = {
        "a.txt": f"pears{TAGS}",
        "a.md": f"---\ntitle: A{TAGS}\nkey{TAGS}: a{TAGS}\n---\npears{TAGS}",
        "a.csv": f"a,b\npears{TAGS},1\n",
        "a.html": f"<title>A{TAGS}</title>pears{TAGS}&#xe006f;",
        "a.json": json.dumps({"a": f"pears{TAGS}"}, ensure_ascii=False),
        "a.ipynb": json.dumps(book),
        "a.eml": f"Subject: A{TAGS}\nContent-Type: text/plain; charset=utf-8\n\npears{TAGS}",
        "a.docx": docx(paragraph(f"pears{TAGS}")),
    }
    for name, text in texts.items():
        (papers / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    idx("sync", "papers")
    with Searcher(idx.index) as searcher:
        for document in searcher.documents().documents:
            (chunk,) = searcher.document_chunks(document.source_document).chunks
            told = f"{document}{chunk}"
            assert "pears" in told
            assert not [letter for letter in told if "\U000e0000" <= letter <= "\U000e0fff"], told
            assert "\\U000e" not in told
        assert {each.source_document for each in searcher.documents().documents} == {*texts}
