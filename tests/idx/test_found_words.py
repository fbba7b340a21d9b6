"""Which words of a query count, and what they find, as people search."""

import json

import pytest

from tests.conftest import Idx

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
        hits = json.loads(searched("search", query, "--json").stdout)["results"]
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
        shown = idx("search", query, "--filter", "language=de", "--json").stdout
        assert [hit["source_document"] for hit in json.loads(shown)["results"]] == found, query
