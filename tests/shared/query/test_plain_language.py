"""Plain language that does not parse is searched as plain text; evident syntax stays an error."""

from pathlib import Path

import pytest
from mcp import Client

from shared import Document, QueryParseError, Searcher
from tests.conftest import Connect, Idx, NewIndex, add_documents
from tests.server.tool_answers import answer, error

WORDS = "articles ecl levels section phrase question deposit three lambda parser smile"

PLAIN = [
    "List all articles on EL1 and ECL (EL1 may be given as EL/1; I don't remember how they did it.",
    "(see section 4",
    "see section 4 (and the articles) on levels (EL1, ECL",
    '"unclosed phrase',
    'he said "the question is, who pays the deposit',
    'a "quoted" question and "another',
    "AND what about this question?",
    "OR question",
    "OR",
    "AND",
    "NOT",
    "NOT AND",
    "articles AND",
    "articles OR",
    "articles NOT",
    "deposit AND OR three",
    "deposit OR OR three",
    "three AND AND deposit",
    "articles && ",
    "|| articles",
    "[articles TO",
    "articles [section TO",
    "list[0 TO question (three",
    "question :-( and then (",
    "smile ;-) (: (smile",
    "parser = foo(bar, (lambda x: x",
    "if (question(x) { return articles[(section",
    "deposit ((three ) ((three",
    "(rent OR deposit",
    "rent AND (deposit OR three",
    '"question period" AND',
    "*Important* articles (please read",
    "/deposit(s|ual/ (three",
    "It is -5 degrees (articles",
    "!important articles (question",
    "Dear all,\n\nwhat is the deposit (three months?\n\n-- \nAnn (section 4",
    "1) articles (2) section (3 question",
    "C:\\articles (section",
    "mail to ann@example.org (question",
    "deposit: three (section",
    "12:30 articles (see section",
    "(((articles",
]

SYNTAX = [
    ("title:(unclosed AND", "at character 19"),
    ("title:(", "at character 7"),
    ("title:[a TO", "at character 11"),
    ("title:articles AND", "at character 18"),
    ('title:"articles', "at character 15"),
    ("source_document:x AND OR y", "at character 23"),
    ("author:ann (articles", "at character 20"),
    ("+articles (section", "at character 18"),
    ("articles -section (deposit", "at character 26"),
    ('-"question articles" AND', "at character 24"),
    ("articles^2 AND", "at character 14"),
    ("(articles section)^2 OR", "at character 23"),
    ("articel~ AND", "at character 12"),
    ("articel~1 (deposit", "at character 18"),
    ('"question section"~5 (three', "at character 27"),
    ("[alpha TO omega] AND", "at character 20"),
    ("{2020 TO 2024} OR", "at character 17"),
    ("*:* AND", "at character 7"),
    ("AND title:articles", "unexpected 'AND' at the beginning of the query"),
    ("  OR +articles", "unexpected 'OR' at the beginning of the query"),
]


@pytest.fixture(scope="module")
def searcher(new_index: NewIndex) -> Searcher:
    path = new_index(Document("all", "Words", f"{WORDS} and or not", {"author": "Ann"}))
    return Searcher(path)


@pytest.mark.parametrize("query", PLAIN)
def test_plain_language_is_searched_and_the_answer_says_so(searcher: Searcher, query: str) -> None:
    answer = searcher.search(query)
    assert answer.totalHits == 1
    assert answer.note is not None
    assert answer.note.startswith("The query was searched as plain text")
    assert "after ''" not in answer.note
    as_text = searcher.search(query, syntax="plain")
    assert as_text.note is None
    assert answer.results == as_text.results


@pytest.mark.parametrize(("query", "where"), SYNTAX)
def test_evident_syntax_that_is_broken_is_an_error_that_says_where(
    searcher: Searcher, query: str, where: str
) -> None:
    with pytest.raises(QueryParseError, match=r"^Parse error: ") as raised:
        searcher.search(query)
    assert where in str(raised.value)
    assert "''" not in str(raised.value)


@pytest.mark.parametrize("query", ["AND x", " OR x", ") x", "NOT", "(", '"', "["])
def test_no_error_says_that_something_stands_behind_nothing(searcher: Searcher, query: str) -> None:
    with pytest.raises(QueryParseError) as raised:
        searcher.search(query, syntax="lucene")
    assert "''" not in str(raised.value)


@pytest.mark.parametrize("query", ["articles", "articles AND deposit", "(articles) f(x) :-(", ""])
def test_a_query_that_parses_has_no_note(searcher: Searcher, query: str) -> None:
    assert searcher.search(query).note is None
    assert searcher.explain(query).note is None


def test_the_command_line_says_what_was_searched(idx: Idx, index_path: Path) -> None:
    add_documents(index_path, Document("a", "A", WORDS))
    found = idx("search", "articles (section 4")
    assert "**articles**" in found.stdout
    assert "The query was searched as plain text" in found.stderr
    assert "plain text" in idx("search", "articles (section 4", "--explain").stdout
    assert '"note"' not in idx("search", "articles", "--json").stdout
    assert "plain text" not in idx("search", "articles").stderr
    broken = idx("search", "title:(articles AND", code=1)
    assert broken.stderr.startswith("Error: Parse error: the query ends too early")


async def test_a_client_is_told_what_was_searched(connect: Connect, empty_index: Path) -> None:
    add_documents(empty_index, Document("all", "Words", WORDS))
    async with connect() as client:
        assert isinstance(client, Client)
        asked = {"query": "articles (section 4"}
        found = answer(await client.call_tool("Search", asked))
        assert found["note"].startswith("The query was searched as plain text")
        explained = answer(await client.call_tool("explain_query", asked))
        assert explained["note"] == found["note"]
        assert "note" not in answer(await client.call_tool("Search", {"query": "articles"}))
        broken = await client.call_tool("Search", {"query": "title:(articles AND"})
        assert error(broken).startswith("Parse error: ")
