"""The formats of documents, queries and judgements."""

from collections.abc import Callable
from pathlib import Path

import pytest

from idx.errors import SourceFileError
from idx.evaluation.collection import Query, read_documents, read_judgements, read_queries
from shared import Document
from shared.model.document import Metadata
from tests.systems import evaluates

pytestmark = evaluates


def documents(file: Path) -> list[Document]:
    return list(read_documents(file))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "file"


def test_documents_of_beir(file: Path) -> None:
    file.write_text(
        '{"_id": "a", "title": "A title", "text": "Some text", '
        '"metadata": {"url": "x", "pages": 3, "authors": ["Ann"], "nested": {}}}\n'
        "\n"
        '{"_id": "b", "title": "", "text": "No title", "metadata": {}}\n'
        '{"_id": "c", "title": "No text", "text": ""}\n'
    )
    metadata: Metadata = {"url": "x", "pages": 3, "authors": ["Ann"]}
    assert documents(file) == [
        Document("a", "A title", "Some text", metadata),
        Document("b", "-", "No title"),
        Document("c", "No text", "No text"),
    ]


def test_documents_with_other_keys(file: Path) -> None:
    file.write_text(
        '\ufeff{"id": 7, "title": "A", "content": "Some text", "author": "Ann", "none": null}\n'
    )
    assert documents(file) == [Document("7", "A", "Some text", {"author": "Ann"})]


def test_queries_of_beir(file: Path) -> None:
    file.write_text('{"_id": "a", "text": " one ", "metadata": {}}\n{"id": 2, "text": "two"}\n')
    assert read_queries(file) == [Query("a", "one"), Query("2", "two")]


def test_judgements_of_trec_and_of_beir(file: Path) -> None:
    expected = {"1": {"a": 2, "b": 0}, "2": {"a": 0}}
    file.write_text("1 0 a 2\n1\t0\tb\t0\n2  Q0  a  -2\n1 0 a 2\n")
    assert read_judgements(file).relevance == expected
    for header in ("query-id\tcorpus-id\tscore", "query-id\tdocument-id\tgain"):
        file.write_text(f"{header}\n1\ta\t2\n1\tb\t0\n2\ta\t-2\n")
        assert read_judgements(file).relevance == expected
    file.write_text("query-id\tcorpus-id\tscore\nq 1\ta document\t1\n")
    assert read_judgements(file).relevance == {"q 1": {"a document": 1}}


def test_judgements_know_what_can_be_measured(file: Path) -> None:
    file.write_text("1 0 a 2\n2 0 a 0\n")
    judgements = read_judgements(file)
    assert [judgements.has_relevant(id_) for id_ in "123"] == [True, False, False]
    assert list(judgements.only({"2", "3"}).documents()) == ["a"]


WRONG: dict[Callable[[Path], object], list[tuple[str, str]]] = {
    documents: [
        ("Id,Title\n", "line 1: is not valid JSON"),
        ('{"_id": "a", "text": "x"}\n[]\n', "line 2: is list, not an object"),
        ('{"_id": "a", "text": "x"}\n{"text": "x"}\n', "line 2: has no '_id'"),
        ('{"_id": "a", "text": 3}\n', "line 1: 'text' is int, not text"),
        ('{"_id": "a", "text": "x"}\n\n{"id": "a"}\n', "line 3: the document 'a' was on line 1"),
        ('{"_id": "a", "text": "x"}\n{"_id"\n', "line 2: is not valid JSON: "),
        ('{"_id": "a", "text": "\\ud800"}\n', "line 1: the content of the document 'a' is not val"),
        ('{"_id": "", "text": "x"}\n', "line 1: the id of a document must not be empty"),
        ('{"_id": "a", "n": NaN}\n', "line 1: the metadata 'n' of the document 'a' is nan"),
        ("\n \n", "is empty"),
    ],
    read_queries: [
        ("1\tone\n", "line 1: is not valid JSON"),
        (
            '{"id": "1", "text": "x"}\n{"id": 1, "text": "y"}\n',
            "line 2: the query '1' was on line 1",
        ),
        ('{"_id": "2", "text": " "}\n', "line 1: the query '2' has no text"),
        ('{"_id": "", "text": "x"}\n', "line 1: the query has no id"),
        ('{"_id": "a"}\n', "line 1: has no 'text'"),
        ('{"_id": true, "text": "x"}\n', "line 1: '_id' is bool, not text"),
    ],
    read_judgements: [
        ("1,a,2\n", "is in no format of judgements"),
        ("1\ta\t2\n", "is in no format of judgements"),
        ("1 0 a 2\n1 0 b\n", "line 2: has 3 columns instead of 4"),
        ("1 0 a 2\n1 0 b high\n", "line 2: the relevance 'high' is not a whole number"),
        ("1 0 a 2\n1 0 a 1\n", "line 2: the document 'a' was judged 2 for the query '1' before"),
        ("q\td\ts\n1\ta\n", "line 2: has 2 columns instead of 3"),
        ("q\td\ts\n1\ta\t0.5\n", "line 2: the relevance '0.5' is not a whole number"),
    ],
}


@pytest.mark.parametrize(
    ("read", "text", "reason"), [(read, *row) for read, rows in WRONG.items() for row in rows]
)
def test_a_wrong_file_is_refused(
    file: Path, read: Callable[[Path], object], text: str, reason: str
) -> None:
    file.write_text(text)
    with pytest.raises(SourceFileError) as raised:
        read(file)
    assert raised.value.reason.startswith(reason)


def test_files_that_cannot_be_read(file: Path) -> None:
    with pytest.raises(SourceFileError, match="there is no such file"):
        read_queries(file)
    file.write_bytes(b'{"_id": "1", "text": "one"}\n{"_id": "2", "text": "caf\xe9"}\n')
    with pytest.raises(SourceFileError, match="line 2: is not utf-8 text"):
        read_queries(file)
    with pytest.raises(SourceFileError, match="cannot be read: Is a directory"):
        read_queries(file.parent)
