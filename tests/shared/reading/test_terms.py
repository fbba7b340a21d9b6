"""Terms and fields where it matters how they are counted, spelled and named."""

from pathlib import Path
from typing import Any

import pytest

from shared import Document, Filter, Index, Searcher
from shared.errors import FieldNotFoundError, InvalidTextError
from shared.model.document import Metadata
from shared.reading import figures
from tests.conftest import add_documents


def counts(answer: Any) -> dict[str, int]:
    return {found.term: found.chunks for found in answer.terms}


def test_terms_of_all_segments_are_added_up(empty_index: Path) -> None:
    for number in range(3):
        add_documents(
            empty_index, Document(str(number), "T", f"Öffnung offen{'abc'[number]} offer zzz")
        )
    with Searcher(empty_index) as searcher:
        assert searcher.statistics().segments == 3
        found = searcher.suggest_terms("ÖFF")
        assert (found.prefix, found.complete, found.notice) == ("off", True, None)
        assert list(counts(found).items()) == [
            ("offer", 3),
            ("offnung", 3),
            ("offena", 1),
            ("offenb", 1),
            ("offenc", 1),
        ]
        assert list(counts(searcher.suggest_terms("off", limit=2))) == ["offer", "offnung"]
        assert list(counts(searcher.top_terms(limit=3))) == ["offer", "offnung", "zzz"]
        top = searcher.top_terms(min_length=7)
        assert (top.field, top.prefix, top.complete, top.notice) == ("content", "", True, None)
        assert list(counts(top)) == ["offnung"]
        assert counts(searcher.suggest_terms("zzzz")) == {}
        assert counts(searcher.suggest_terms("zzz ")) == {"zzz": 3}
        assert searcher.suggest_terms("t", field="title").field == "title"


def test_chunks_that_are_gone_are_not_counted(empty_index: Path) -> None:
    add_documents(
        empty_index,
        # Lucene merges a segment as soon as a fifth of its chunks are deleted.
        *(Document(f"filling{number}", "T", "zebra") for number in range(30)),
        *(Document(f"old{number}", "T", "apple apricot", {"kind": "old"}) for number in range(5)),
        *(Document(f"new{number}", "T", "apricot avocado", {"kind": "new"}) for number in range(3)),
        Document("other", "T", "almond", {"kind": "other"}),
    )
    with Index(empty_index) as index:
        for number in range(5):
            index.delete(f"old{number}")
    with Searcher(empty_index) as searcher:
        assert searcher.statistics().deleted_chunks == 5
        expected = {"apricot": 3, "avocado": 3, "almond": 1}
        assert list(counts(searcher.suggest_terms("a")).items()) == list(expected.items())
        assert counts(searcher.suggest_terms("a", limit=2)) == {"apricot": 3, "avocado": 3}
        expected = {"zebra": 30, **expected}
        assert list(counts(searcher.top_terms()).items()) == list(expected.items())
        assert counts(searcher.top_terms(limit=2)) == {"zebra": 30, "apricot": 3}
        assert counts(searcher.top_terms(field="kind")) == {"new": 3, "other": 1}
        kind = next(field for field in searcher.fields().fields if field.name == "kind")
        assert (kind.chunks, kind.examples) == (4, ["new", "other"])


def test_a_term_of_many_chunks_that_are_gone_does_not_hide_others(empty_index: Path) -> None:
    add_documents(
        empty_index,
        *(Document(f"filling{number}", "T", "zebra") for number in range(60)),
        *(Document(f"old{number}", "T", "quail") for number in range(9)),
        *(Document(f"many{number}", "T", "quince") for number in range(8)),
        *(Document(f"some{number}", "T", "quiver") for number in range(7)),
    )
    with Index(empty_index) as index:
        for number in range(8):
            index.delete(f"old{number}")
    with Searcher(empty_index) as searcher:
        assert searcher.statistics().deleted_chunks == 8
        assert counts(searcher.suggest_terms("qu", limit=2)) == {"quince": 8, "quiver": 7}


def test_a_field_that_no_chunk_has_any_more_is_not_listed(empty_index: Path) -> None:
    add_documents(
        empty_index,
        Document("a", "T", "text", {"gone": "x"}),
        *(Document(f"filling{number}", "T", "text") for number in range(9)),
    )
    with Index(empty_index) as index:
        index.delete("a")
    with Searcher(empty_index) as searcher:
        assert searcher.statistics().deleted_chunks == 1
        assert "gone" not in {field.name for field in searcher.fields().fields}


def test_no_more_terms_are_looked_at_than_is_allowed(
    empty_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "MAX_LISTED_TERMS", 4)
    add_documents(empty_index, Document("a", "T", "worda wordb wordc wordd"))
    with Searcher(empty_index) as searcher:
        assert searcher.suggest_terms("word").complete
    add_documents(
        empty_index, Document("b", "T", "worde worde longer"), Document("c", "T", "worde")
    )
    with Searcher(empty_index) as searcher:
        cut = searcher.suggest_terms("word")
        assert not cut.complete
        assert list(counts(cut)) == ["worda", "wordb", "wordc", "wordd"]
        assert cut.notice is not None
        assert "give a longer prefix" in cut.notice
        assert counts(searcher.suggest_terms("worde")) == {"worde": 2}
        # Terms behind those with the prefix are not looked at.
        assert searcher.suggest_terms("longer").complete
        rare = searcher.top_terms(limit=2, min_length=6)
        assert (counts(rare), rare.complete) == ({}, False)
        assert rare.notice is not None
        assert searcher.top_terms(limit=3).complete


def test_values_are_spelled_as_they_are(empty_index: Path) -> None:
    long = "L" * 40_000
    metadata: Metadata = {
        "author": ["Ann Smith", "Änne"],
        "size": 12.0,
        "note": long,
        "final": True,
    }
    add_documents(empty_index, Document("a/B", "T", "𐐀𐐁 text", metadata))
    with Searcher(empty_index) as searcher:
        assert counts(searcher.suggest_terms("Ann", field="author")) == {"Ann Smith": 1}
        assert counts(searcher.suggest_terms("ann", field="author")) == {}
        assert counts(searcher.suggest_terms("Ä", field="metadata.author")) == {"Änne": 1}
        assert counts(searcher.top_terms(field="size")) == {"12": 1}
        assert counts(searcher.top_terms(field="final")) == {"true": 1}
        assert counts(searcher.top_terms(field="source_document")) == {"a/B": 1}
        assert counts(searcher.suggest_terms("a/", field="id")) == {"a/B-chunk-001": 1}
        assert counts(searcher.suggest_terms("𐐀", field="content")) == {"𐐨𐐩": 1}
        (note,) = counts(searcher.suggest_terms("L" * 36_000, field="note"))
        assert 30_000 < len(note) < 32_000
        assert note.endswith("L…")
        with pytest.raises(InvalidTextError):
            searcher.suggest_terms("a\udcff")


def test_a_prefix_of_which_nothing_is_left_is_told(empty_index: Path) -> None:
    add_documents(empty_index, Document("a", "T", "text"))
    with Searcher(empty_index) as searcher:
        for prefix in ("", "  ", "\u0301"):
            nothing = searcher.suggest_terms(prefix)
            assert (nothing.terms, nothing.complete) == ([], False)
            assert (nothing.field, nothing.prefix) == ("content", "")
            assert nothing.notice is not None
            assert "The prefix has no characters that the index keeps" in nothing.notice


def test_a_key_of_the_metadata_never_hides_a_field_of_chunks(empty_index: Path) -> None:
    metadata: Metadata = {"title": "of a key", "chunk_index": "seven", "my key: (x)": "value"}
    add_documents(empty_index, Document("a", "Real", "text", metadata))
    with Searcher(empty_index) as searcher:
        assert counts(searcher.top_terms(field="title")) == {"real": 1}
        assert counts(searcher.top_terms(field="metadata.title")) == {"of a key": 1}
        assert counts(searcher.top_terms(field="chunk_index")) == {"seven": 1}
        by_name = {field.name: field for field in searcher.fields().fields}
        assert by_name["title"].kind == "text"
        assert not by_name["metadata.title"].filterable
        query = f"{by_name['my key: (x)'].query_name}:value"
        assert searcher.search(query).totalHits == 1


def test_an_unknown_field_is_answered_with_those_there_are(empty_index: Path) -> None:
    with Searcher(empty_index) as searcher:
        assert searcher.top_terms().terms == []
        assert searcher.suggest_terms("a", field="title").terms == []
        with pytest.raises(FieldNotFoundError):
            searcher.top_terms(field="author")
    add_documents(empty_index, Document("a", "T", "text", {"author": "Ann", "year": 2020}))
    with Searcher(empty_index) as searcher:
        with pytest.raises(FieldNotFoundError, match=r"'autor' .*did you mean 'author'\?.* year"):
            searcher.suggest_terms("a", field="autor")
        general = "content, title, stems, title_stems, metadata, id, source_document, author, "
        for name in ("chunk_index", "number.year", "details", "x" * 100_000, "\udcff"):
            with pytest.raises(FieldNotFoundError) as refused:
                searcher.top_terms(field=name)
            assert general in str(refused.value)
            assert len(str(refused.value)) < 500


def test_what_is_said_of_a_field_is_so(empty_index: Path) -> None:
    metadata: Metadata = {"author": "Ann", "year": 2020, "mixed": 1}
    add_documents(
        empty_index,
        Document("a", "Title", "DEC-7 text", metadata),
        Document("b", "B", "text", {"mixed": "two"}),
    )
    with Searcher(empty_index) as searcher:
        listed = searcher.fields()
        assert listed.total_chunks == 2
        by_name = {field.name: field for field in listed.fields}
        assert by_name["content"].chunks == by_name["id"].chunks == 2
        assert (by_name["year"].kind, by_name["year"].query_name) == ("number", "number.year")
        assert (by_name["mixed"].kind, by_name["mixed"].chunks) == ("keyword", 2)
        assert by_name["mixed"].examples == ["1", "two"]
        for name, field in by_name.items():
            if field.filterable:
                assert searcher.search("", filters=[Filter(name, "exists")]).totalHits
            if field.sortable:
                assert searcher.search("", sort=name).totalHits == 2
            if field.facet:
                assert searcher.search("", facets=[name]).facets[0].values
            if field.query_name and field.examples:
                query = f'{field.query_name}:"{field.examples[0]}"'
                assert searcher.search(query).totalHits, query
        assert {name for name, field in by_name.items() if not field.searchable} == {"chunk_index"}


def test_the_words_of_a_document_are_counted_once(empty_index: Path) -> None:
    sizes = (1, 250, 251, 460, 461, 1000)
    texts = {str(size): " ".join(f"w{number}" for number in range(size)) for size in sizes}
    add_documents(empty_index, *(Document(name, "T", text) for name, text in texts.items()))
    with Searcher(empty_index) as searcher:
        for name, text in texts.items():
            details = searcher.document_details(name)
            assert (details.words, details.characters) == (int(name), len(text))
            assert text.startswith(details.preview.removesuffix("…"))
            assert len(details.preview) <= 301
            assert details.preview.endswith("…") == (len(text) > 300)
