import pytest

from shared import Document, FileState, Filter, Index, Searcher, SourceFile
from shared.errors import FilterError
from shared.model.document import Metadata
from shared.model.filters import Limits, parse_filter


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("author=Ann", Filter("author", "eq", "Ann")),
        ("author != Ann", Filter("author", "ne", "Ann")),
        ("kind=a|b", Filter("kind", "in", ["a", "b"])),
        ("kind!=a|b", Filter("kind", "not_in", ["a", "b"])),
        ("file_path^=/home/", Filter("file_path", "prefix", "/home/")),
        ("year>=2020", Filter("year", "range", minimum="2020")),
        ("created<=2024-12-31", Filter("created", "range", maximum="2024-12-31")),
        ("author=*", Filter("author", "exists")),
        ("formula=a=b", Filter("formula", "eq", "a=b")),
    ],
)
def test_the_command_lines_syntax(text: str, expected: Filter) -> None:
    assert parse_filter(text) == expected


@pytest.mark.parametrize("text", ["", "author", "=x", "a>5", "a<5"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(FilterError, match="is not valid; write FIELD=VALUE"):
        parse_filter(text)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    path = tmp_path_factory.mktemp("library") / "index"
    with Index(path, create=True) as index:
        metadata: Metadata = {"year": 1999, "author": "Ann", "tags": ["x", "y"], "whole": 4.0}
        index.add(Document("a", "A", "word", {**metadata, "day": 20240501}))
        file = SourceFile("/papers/b.txt", FileState(None, 4, 0, "hash"))
        metadata = {"year": 2020, "author": "Ben", "open": True, "sent": "2023-01-01T00:00:00Z"}
        index.add(Document("b", "B", "word", metadata, file=file))
        metadata = {"year": 2020.5, "date": "2024-05-01", "code": "0100", "day": "2024-05-01"}
        index.add(Document("c/1", "C", "word " * 300, metadata))
    return Searcher(path)


@pytest.mark.parametrize(
    ("condition", "ids"),
    [
        (Filter("author", "eq", "Ann"), {"a"}),
        (Filter("author", "ne", "Ann"), {"b", "c/1"}),
        (Filter("author", "in", ["Ann", "Ben"]), {"a", "b"}),
        (Filter("author", "not_in", ["Ann", "Ben"]), {"c/1"}),
        (Filter("author", "prefix", "A"), {"a"}),
        (Filter("author", "exists"), {"a", "b"}),
        (Filter("tags", "eq", "y"), {"a"}),
        (Filter("year", "eq", 2020), {"b"}),
        (Filter("open", "eq", True), {"b"}),
        (Filter("year", "range", minimum=2020), {"b", "c/1"}),
        (Filter("year", "range", minimum=2000, maximum=2020.2), {"b"}),
        (Filter("year", "range", minimum="2000", maximum="2020.2"), {"b"}),
        (Filter("year", "range", maximum="2000"), {"a"}),
        (Filter("date", "range", minimum="2024", maximum="2025"), {"c/1"}),
        (Filter("date", "range", maximum=2024), {"c/1"}),
        (Filter("sent", "range", maximum="2023-01-01T00:00:00+00:00"), {"b"}),
        # A key of numbers and texts: whoever gives a text that is no number means the texts.
        (Filter("day", "range", minimum="2024", maximum="2024-12"), {"c/1"}),
        (Filter("day", "range", minimum="2024"), {"a"}),
        (Filter("source_document", "eq", "c/1"), {"c/1"}),
        (Filter("source_document", "prefix", "c/"), {"c/1"}),
        (Filter("source_document", "exists"), {"a", "b", "c/1"}),
        (Filter("id", "eq", "b-chunk-001"), {"b"}),
        (Filter("id", "exists"), {"a", "b", "c/1"}),
        (Filter("chunk_index", "eq", 2), {"c/1"}),
        (Filter("chunk_index", "in", [2, 3]), {"c/1"}),
        (Filter("chunk_index", "ne", 1), {"c/1"}),
        (Filter("chunk_index", "range", minimum=2), {"c/1"}),
        (Filter("chunk_index", "range", minimum=1.5, maximum="2"), {"c/1"}),
        (Filter("chunk_index", "range", minimum=3_000_000_000), set()),
        (Filter("chunk_index", "range", maximum=-3_000_000_000), set()),
        (Filter("chunk_index", "eq", 1.9), set()),
        (Filter("chunk_index", "eq", 2**32 + 1), set()),
        (Filter("year", "eq", 2020.0), {"b"}),
        (Filter("file_path", "prefix", "/papers"), {"b"}),
        (Filter("file_path", "eq", "/papers/b.txt"), {"b"}),
        (Filter("file_path", "ne", "/papers/b.txt"), {"a", "c/1"}),
        (Filter("file_path", "in", ["/papers/a.txt", "/papers/b.txt"]), {"b"}),
        (Filter("file_path", "exists"), {"b"}),
        (Filter("whole", "eq", 4), {"a"}),
        (Filter("chunk_index", "exists"), {"a", "b", "c/1"}),
    ],
)
def test_each_operator(library: Searcher, condition: Filter, ids: set[str]) -> None:
    answer = library.search("word", filters=[condition])
    assert {hit.source_document for hit in answer.results} == ids


@pytest.mark.parametrize(
    ("typed", "ids"),
    [
        ("date>=2024", {"c/1"}),
        ("date<=2024", {"c/1"}),
        ("date>=2025", set()),
        ("author>=3", {"a", "b"}),
        ("year>=2020", {"b", "c/1"}),
        ("year>=2.0205e3", {"c/1"}),
        ("code>=0100", {"c/1"}),
        ("code>=1_0", set()),
        ("code<=inf", {"c/1"}),
        ("id>=3", {"a", "b", "c/1"}),
    ],
)
def test_a_bound_that_looks_like_a_number_is_a_text_where_values_are(
    library: Searcher, typed: str, ids: set[str]
) -> None:
    answer = library.search("word", filters=[parse_filter(typed)])
    assert {hit.source_document for hit in answer.results} == ids


def test_all_filters_must_hold_and_scores_stay(library: Searcher) -> None:
    conditions = [Filter("year", "range", minimum=2000), Filter("author", "exists")]
    unfiltered = {hit.id: hit.score for hit in library.search("word").results}
    (hit,) = library.search("word", filters=conditions).results
    assert hit.source_document == "b"
    assert hit.score == pytest.approx(unfiltered[hit.id])


@pytest.mark.parametrize(
    ("condition", "complaint"),
    [
        (Filter("nobody"), "no document has the field 'nobody'; .* author, code, date, day"),
        (Filter("content", "eq", "x"), "put content:WORD into the query"),
        (Filter("author"), "needs one value for 'eq', not null"),
        (Filter("author", "eq", ["x"]), "needs one value"),
        (Filter("author", "in", "x"), "needs a list of values"),
        (Filter("author", "in", []), "needs a list of values"),
        (Filter("chunk_index", "in", [None]), "a list of values, not of null"),  # type: ignore[list-item] # wrong
        (Filter("author", "prefix", 3), "needs a text field for its prefix"),
        (Filter("file_path", "like", "x"), "no filter operator 'like'"),  # type: ignore[arg-type] # wrong
        (Filter("file_path", "eq", "x", minimum="y"), "no use for minimum or maximum"),
        (Filter("file_path", "range", minimum="/a"), "takes no range; use prefix"),
        (Filter("year", "range"), "needs a minimum or a maximum"),
        (Filter("year", "range", minimum=1, maximum="x"), "needs a number, not 'x'"),
        (Filter("chunk_index", "eq", "two"), "needs a number, not 'two'"),
        (Filter("chunk_index", "eq", "inf"), "needs a number, not 'inf'"),
        (Filter("chunk_index", "prefix", "1"), "needs a text field"),
        (Filter("year", "range", minimum=10**400), "needs a number"),
        (Filter("year", "range", minimum=float("nan")), "needs a number"),
        (Filter("year", "eq", 2020, minimum=3), "no use for minimum or maximum with 'eq'"),
        (Filter("year", "range", 2020, minimum=3), "no use for value with 'range'"),
        (Filter("year", "like", 3), "no filter operator 'like'"),  # type: ignore[arg-type] # wrong
    ],
)
def test_what_does_not_fit_is_named(library: Searcher, condition: Filter, complaint: str) -> None:
    with pytest.raises(FilterError, match=complaint):
        library.search("word", filters=[condition])


def test_parts_of_an_index_have_names_of_their_own() -> None:
    whole = Limits({})
    both, strange = whole.within(["a", "b"]), whole.within(["a|b"])
    each, twice = whole.within(["a"]).within(["b"]), whole.within(["a&b"])
    umlauts = whole.within(["bücher\n", "\ud800"])
    names = [part.name for part in (both, strange, each, twice, umlauts)]
    assert len(set(names)) == len(names)
    assert all(name.isascii() and name.isprintable() for name in names)
    assert both.name == whole.within(["b", "a"]).name
