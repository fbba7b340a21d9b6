"""Which metadata are searched by their words, and which are shown with a hit."""

from shared.model.document import Metadata
from shared.model.metadata import ONLY_WITH_DOCUMENTS, chunk_metadata, texts_of


def test_texts_are_searched_but_not_codes_dates_and_numbers() -> None:
    found = texts_of(
        {
            "author": "Ann",
            "keywords": ["boats", "sea", 3],
            "language": "en",
            "created": "2020-01-01",
            "content_hash": "ab12",
            "year": 2020,
            "draft": True,
        }
    )
    assert list(found) == ["Ann", "boats", "sea"]


def test_what_says_nothing_of_the_words_is_shown_with_documents_only() -> None:
    shown: Metadata = {"author": "Ann", "year": 2020}
    assert chunk_metadata({**shown, **dict.fromkeys(ONLY_WITH_DOCUMENTS, "x")}) == shown
