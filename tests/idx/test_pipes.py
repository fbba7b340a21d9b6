"""What programs, and people with a pager, get on stdout."""

import json
from pathlib import Path

import pytest

from shared import Document
from tests.conftest import Idx, add_documents
from tests.idx.preparation import index_files
from tests.idx.test_add_files import pdf_of
from tests.systems import starts_without_locale

pytestmark = pytest.mark.usefixtures("empty_index")

NOTES = "# Notes\n\nNothing of interest.\n\nThe notice period is three months.\n"


@pytest.fixture
def papers(empty_index: Path, tmp_path: Path) -> Path:
    """A folder of the index with a text, a PDF and a file that cannot be read."""
    folder = tmp_path / "my papers"
    folder.mkdir()
    (folder / "notes.md").write_text(NOTES)
    (folder / "lease.pdf").write_bytes(pdf_of(["A notice of defects.", "The second page."]))
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 no more than this")
    index_files(empty_index, folder)
    add_documents(empty_index, Document("call", "Phone call", "They gave notice on the café."))
    return folder


def test_a_row_of_a_table_is_a_line_with_tabs(idx: Idx, papers: Path) -> None:
    lines = idx("list").stdout.splitlines()
    assert lines[0].split("\t") == ["Document", "Title", "Chunks", "Language", "File"]
    assert lines[1] == "call\tPhone call\t1\ten"
    assert lines[3].split("\t")[::4] == ["notes.md", str(papers / "notes.md")]
    assert lines[-1] == "3 documents, 3 chunks"
    for command in ("list", "failures", "stats", "fields", "terms"):
        shown = idx(command).stdout
        assert "  " not in shown.replace("my papers", "")
        assert all(line == line.rstrip() for line in shown.splitlines())


def test_a_tab_or_a_line_end_in_a_value_makes_no_column_and_no_row(idx: Idx) -> None:
    add_documents(idx.index, Document("a", "One\ttwo\nthree", "text"))
    row = idx("list").stdout.splitlines()[1]
    assert row.split("\t")[:3] == ["a", r"One\ttwo\nthree", "1"]


def test_a_pipe_is_as_wide_as_columns_says(idx: Idx, papers: Path) -> None:
    idx.setenv("COLUMNS", "60")
    listed = idx("list").stdout
    assert "\t" not in listed
    assert max(map(len, listed.splitlines())) <= 60
    add_documents(idx.index, Document("long", "Long", "Three months of notice are due. " * 20))
    found = idx("search", "months").stdout
    wrapped = [line for line in found.splitlines() if str(papers) not in line]
    assert 40 < max(map(len, wrapped)) <= 60


def test_a_passage_is_one_line_in_a_pipe(idx: Idx) -> None:
    add_documents(idx.index, Document("long", "Long", "Three months of notice\nare due. " * 60))
    found = idx("search", "months", "--limit", 1, "--group", "none")
    _, _, *passages, _ = found.stdout.splitlines()
    assert all("**months** of notice are due." in passage for passage in passages)
    assert max(map(len, passages)) > 80


def test_plain_prints_one_path_a_line(idx: Idx, papers: Path) -> None:
    assert idx("list", "--plain").stdout.splitlines() == [
        "call",
        str(papers / "lease.pdf"),
        str(papers / "notes.md"),
    ]
    assert idx("failures", "--plain").stdout == f"{papers / 'broken.pdf'}\n"
    found = idx("search", "notice", "--plain")
    assert sorted(found.stdout.splitlines()) == [
        f"{papers / 'lease.pdf'}#page=1",
        f"{papers / 'notes.md'}:5",
        "call",
    ]
    assert found.stderr == "3 chunks match; shown: 1 to 3.\n"


def test_plain_names_the_line_of_the_match_as_it_is_in_the_file(idx: Idx) -> None:
    lines = [f"Line {number} says nothing." for number in range(1, 61)]
    lines[49] = "Here is the notice period."
    (idx.folder / "long.txt").write_text("\r\n".join(lines))
    index_files(idx.index, idx.folder / "long.txt")
    assert idx("search", "notice", "--plain").stdout.splitlines() == [
        f"{idx.folder / 'long.txt'}:50"
    ]


def test_plain_goes_with_no_other_form_of_the_answer(idx: Idx, papers: Path) -> None:
    for command in (["list"], ["failures"], ["search", "notice"]):
        assert "not both" in idx(*command, "--plain", "--json", code=2).stderr
    for option in (["--explain"], ["--facet", "language"]):
        assert "prints only paths" in idx("search", "x", "--plain", *option, code=2).stderr


def test_control_characters_make_no_further_line(idx: Idx) -> None:
    names = ["a\nb.txt", "c\x1b[2J\rd.txt", "e\u2028f.txt", "g\x85h.txt"]
    for name in names:
        (idx.folder / name).write_text("The rent is due.")
    (idx.folder / "i\n.pdf").write_bytes(b"%PDF-1.7 no more than this")
    idx("add", idx.folder, code=1)
    shown = [r"a\nb.txt", r"c\x1b[2J\x0dd.txt", r"e\u2028f.txt", r"g\x85h.txt"]
    assert idx("list", "--plain").stdout.splitlines() == [f"{idx.folder}/{name}" for name in shown]
    found = idx("search", "rent", "--plain").stdout.splitlines()
    assert sorted(found) == [f"{idx.folder}/{name}:1" for name in shown]
    assert idx("failures", "--plain").stdout.splitlines() == [rf"{idx.folder}/i\n.pdf"]


@starts_without_locale
@pytest.mark.parametrize(
    "variables",
    [
        pytest.param({"PYTHONIOENCODING": "ascii"}, id="encoding", marks=pytest.mark.soak),
        pytest.param({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, id="locale"),
    ],
)
def test_stdout_may_have_no_more_than_ascii(
    idx: Idx, papers: Path, variables: dict[str, str]
) -> None:
    add_documents(idx.index, Document("x", "Café 😀", "Ein Café. " * 60))
    for name, value in variables.items():
        idx.setenv(name, value)
    found = idx("search", "ein cafe").stdout
    assert r"**Caf\xe9**" in found
    assert "..." in found
    assert r"Caf\xe9 \U0001f600" in idx("list").stdout
    assert r"Caf\xe9" in idx("show", "x").stdout
    shown = idx("search", "cafe", "--json").stdout
    assert shown.isascii()
    assert "Café" in json.dumps(json.loads(shown), ensure_ascii=False)
    idx.setenv("COLUMNS", "80")
    for command in (["list"], ["search", "ein cafe"]):
        assert idx(*command).stdout.isascii()
