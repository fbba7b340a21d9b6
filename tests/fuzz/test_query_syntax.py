"""Whatever is typed is searched, or refused with an error of this project."""

from contextlib import suppress
from typing import Final, get_args

import pytest
from hypothesis import strategies as st

from shared import Document, Filter, Index, Searcher
from shared.errors import FilterError, McpLuceneError, QueryError, QueryParseError
from shared.model.filters import FilterOperator, parse_filter
from shared.model.request import Operator, Syntax
from shared.query.limits import check_expressions, running
from shared.query.syntax import has_evident_syntax
from tests.fuzz.running import MARKS, fuzz
from tests.server.fuzz.strategies import texts as hostile_texts

pytestmark = MARKS

FIELDS: Final = (
    *("content:", "title:", "id:", "source_document:", "chunk_index:", "metadata.author:"),
    *("number.year:", "year:", "author:", "folder:", "file_type:", "tags:", "nobody:", "_exists_:"),
)

PIECES: Final = (
    *("word1", "Granada", "café", "Wörterbuch", "C++", "a/b", "12:30", "e@x.org", "字", "ﷺ", "²"),
    *("AND", "OR", "NOT", "&&", "||", "+", "-", "!", "(", ")", '"', "~", "^", "?", "*", ":", "\\"),
    *('"word1 word2"~3', "word1~2", "word1^2.5", "(a b)^0.1", "wo?d*", "*ord1", "[a TO z]"),
    *("/wo.d[0-9]+/", "/(a|b){2,3}/", "/[^", "/a{1,1000}/", "/~(a)&b@<1-9>/", "[1 TO", "TO"),
    *("{* TO 5}", "]", "}", "^1e400", "~0.5", "^-1", "~99999999999", "^^", "**", "??"),
    *("\\u0041", "\\", "\U0001f9a6"),
)

queries = (
    st.lists(
        st.builds(
            "{}{}{}".format,
            st.sampled_from(FIELDS) | st.just("") | st.just(""),
            st.sampled_from(PIECES) | st.text(max_size=4),
            st.sampled_from([" ", " ", "", "\n"]),
        ),
        max_size=12,
    ).map("".join)
    | hostile_texts
)

expressions = st.recursive(
    st.sampled_from(
        ["a", "[ab]", "[^a-z]", ".", "@", "#", '"a"', "<1-99>", "\\d", "\\w", "\\(", "é"]
    ),
    lambda inner: st.one_of(
        st.builds("({}|{})".format, inner, inner),
        st.builds("({}&~{})".format, inner, inner),
        st.builds("{}{}".format, inner, inner),
        st.builds(
            "({}){}".format, inner, st.sampled_from(["*", "+", "?", "{9}", "{3,}", "{2,30}"])
        ),
    ),
    max_leaves=12,
)

words = st.sampled_from(
    ["word1", "Granada", "what", "is", "the", "Café", "it's", "don't", "co-op", "3.14", "U.S.", "é"]
)

plain_texts = st.lists(
    st.builds(
        "{}{}".format,
        words | st.text(st.characters(categories=("L", "N")), min_size=1, max_size=6),
        st.sampled_from(
            ["", "", "", ",", ".", "?", "!", ";", "...", " -", " \u2013", " &", "/or", "%"]
        ),
    ),
    min_size=1,
    max_size=10,
).map(" ".join)

scalars = st.none() | st.booleans() | st.integers() | st.floats() | hostile_texts

filters = st.builds(
    Filter,
    st.sampled_from(["year", "author", "id", "folder", "chunk_index", "content", "file_path", ""])
    | hostile_texts,
    st.sampled_from(get_args(FilterOperator)),
    scalars | st.lists(scalars, max_size=3),
    scalars,
    scalars,
)


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    path = tmp_path_factory.mktemp("queries") / "lucene-index"
    with Index(path, create=True) as index:
        text = " ".join(f"word{number % 50} Granada" for number in range(600))
        index.add(Document("long", "Long", text, {"year": 2020, "author": "Ann"}))
        index.add(Document("garden", "Gärten", "Das Wörterbuch der Gärten", {"language": "de"}))
        index.add(Document("café", "Café", "Menu: café au lait, C++", {"tags": ["a", "b"]}))
    return Searcher(path)


def test_any_query_is_searched_or_refused(searcher: Searcher) -> None:
    def is_answered(query: str, syntax: Syntax, operator: Operator) -> None:
        with suppress(QueryError, FilterError):
            answer = searcher.search(query, syntax=syntax, operator=operator, content="passages")
            assert answer.totalHits >= len(answer.results)

    fuzz(
        is_answered,
        query=queries,
        syntax=st.sampled_from(get_args(Syntax)),
        operator=st.sampled_from(get_args(Operator)),
    )


def test_any_regular_expression_is_searched_or_refused(searcher: Searcher) -> None:
    def is_answered(expression: str, before: str) -> None:
        query = f"{before}/{expression}/"
        with suppress(QueryError), running():
            check_expressions(query)
        with suppress(QueryError, FilterError):
            searcher.search(query, syntax="lucene")

    fuzz(is_answered, expression=expressions, before=st.sampled_from(["", "id:", "word1 -"]))


def test_plain_language_is_never_refused(searcher: Searcher) -> None:
    def is_searched(query: str, operator: Operator) -> None:
        if not has_evident_syntax(query):
            searcher.search(query, operator=operator)
        searcher.search(query, syntax="plain", operator=operator)

    fuzz(is_searched, query=plain_texts, operator=st.sampled_from(get_args(Operator)))


def test_no_text_is_a_mistake_in_the_plain_syntax(searcher: Searcher) -> None:
    def is_searched(query: str) -> None:
        try:
            searcher.search(query, syntax="plain")
        except QueryParseError as error:
            raise AssertionError(error) from error
        except QueryError:
            # Only too long a text is refused.
            assert len(query) > 2_000

    fuzz(is_searched, query=queries)


def test_any_filter_is_read_or_refused(searcher: Searcher) -> None:
    def is_answered(condition: Filter, written: str) -> None:
        with suppress(McpLuceneError):
            searcher.search("", filters=[condition])
        with suppress(FilterError):
            searcher.search("", filters=[parse_filter(written)])

    fuzz(
        is_answered,
        condition=filters,
        written=queries
        | st.builds(
            "{}{}{}".format, queries, st.sampled_from(["=", "!=", "^=", ">=", "<="]), queries
        ),
    )
