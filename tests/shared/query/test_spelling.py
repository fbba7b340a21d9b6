"""Misspelled words: similar ones are looked for only where no chunk has the word."""

from pathlib import Path

import pytest

from shared import Document, Index, Searcher
from shared.model.request import Syntax
from shared.model.weights import Weights
from tests.conftest import NewIndex, add_documents

TEXTS = {
    "aero": "The aerodynamic heating of the surface was measured in the tunnel.",
    "heart": "The heart of the garden is a pond with a fountain and a statue.",
    "period": "The notice period of the lease is three months, and the deposit is two rents.",
    "number": "Order DEC-0054 was paid.",
}


@pytest.fixture(scope="module")
def path(new_index: NewIndex) -> str:
    path = new_index(*(Document(name, name, text) for name, text in TEXTS.items()))
    return str(path)


def found(path: str, query: str, syntax: Syntax = "auto") -> list[str]:
    with Searcher(path) as searcher:
        return [hit.source_document for hit in searcher.search(query, syntax=syntax).results]


@pytest.mark.parametrize(
    "query",
    [
        "aerodynmic",
        "aerodynaamic",
        "aerodynamci",
        "aerofynamic",
        "aeordynmic",
        "Aerodynmic?",
        "+aerodynmic heating",
    ],
)
def test_a_misspelled_word_finds_what_was_meant(path: str, query: str) -> None:
    assert found(path, query)[0] == "aero"
    with Searcher(path, weights=Weights(similar=0)) as searcher:
        hits = searcher.search(query).results
    assert [hit.source_document for hit in hits] != found(path, query)


def test_a_word_behind_too_many_unknown_ones_is_corrected_later(path: str) -> None:
    unknown = "qwertyu asdfghj zxcvbnm poiuytr lkjhgfd mnbvcxz qazwsxe edcrfvt"
    with Searcher(path) as searcher:
        assert not searcher.search(f"{unknown} aerodynmic").results
        assert searcher.search("aerodynmic").results


def test_what_the_language_of_a_query_knows_is_corrected_in_another_one(tmp_path: Path) -> None:
    add_documents(
        tmp_path / "index",
        *(
            Document(f"{number}", "Rent", "The rent of the flat is due on the first day.")
            for number in range(25)
        ),
        Document("fr", "Billet", "Le prix du billet est pour toute la famille et le chien."),
    )
    with Searcher(tmp_path / "index") as searcher:
        assert searcher.search("combien coûte le pain et le vin").suggestion is None
        assert searcher.search("coûte").suggestion == "toute"


def test_a_rare_word_that_may_be_meant_does_not_hide_the_likely_one(empty_index: Path) -> None:
    with Index(empty_index) as index:
        for number in range(20):
            index.add(Document(f"{number}", "Flow", f"The pressure of flow {number} is low."))
        index.add(Document("rare", "Flow", "We presume that the flow is low."))
    with Searcher(empty_index) as searcher:
        answer = searcher.search("presure", limit=100)
    assert answer.suggestion == "pressure"
    assert "rare" not in [hit.source_document for hit in answer.results]


def test_a_word_searched_as_it_is_typed_is_corrected_later(path: str) -> None:
    with Searcher(path) as searcher:
        assert not searcher.search("aerodynmic", syntax="lucene").results
        assert searcher.search("aerodynmic", syntax="plain").results
        assert searcher.search("aerodynmic").results
        assert not searcher.search("aerodynmic", syntax="lucene").results


@pytest.mark.parametrize(
    "query",
    [
        "heart",  # not "heat"
        "rents",
        "months",  # a form that some chunk has
        "mouse",
        "rint",  # too short to tell
        "DEC-0055",
        '"notise period"',
        "tunel*",
        "title:perids",
    ],
)
def test_what_is_there_or_meant_to_the_letter_stays(path: str, query: str) -> None:
    with Searcher(path) as searcher:
        answer = searcher.search(query)
    with Searcher(path, weights=Weights(similar=0)) as searcher:
        assert answer == searcher.search(query)
    assert answer.suggestion is None


@pytest.mark.parametrize("word", ["statute", "leash", "heading", "mouths", "rants"])
def test_a_word_of_the_dictionary_is_no_mistake(path: str, word: str) -> None:
    with Searcher(path, weights=Weights(similar=0)) as searcher:
        strict = searcher.search(word)
    with Searcher(path) as searcher:
        assert searcher.search(word) == strict


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("wer", "were"),  # a function word of German
        ("Muskel", "music"),
        ("contact", "contract"),  # a word of English
        ("NOTICD", "notice"),  # a name in capitals
        ("not1ce", "notice"),
        ("period_notise", "notice"),  # a part of a name
    ],
)
def test_what_a_language_knows_and_names_are_not_corrected(
    new_index: NewIndex, query: str, word: str
) -> None:
    de = Document("de", "1", "Das Konzert der Klasse war am Abend in der alten Halle.")
    text = f"The {word}, and what was signed before it began at eight in the old hall."
    with Searcher(new_index(de, Document("en", "2", text))) as searcher:
        answer = searcher.search(query)
    assert "en" not in [hit.source_document for hit in answer.results]
    assert answer.suggestion is None


def test_what_must_not_match_is_no_mistake(path: str) -> None:
    assert found(path, "period -depositt") == ["period"]


def test_the_words_that_were_looked_for_are_told(path: str) -> None:
    with Searcher(path) as searcher:
        answer = searcher.search("Notise periood, aerodynamic!")
        steps = searcher.explain("notise", detail="steps").steps
    assert answer.suggestion == "notice period, aerodynamic!"
    assert any(step.step == "fields" and "content:notice" in step.query for step in steps)


@pytest.mark.parametrize("mistakes", [1, 2])
def test_many_unknown_words_take_no_time(path: str, mistakes: int) -> None:
    query = " ".join(f"aerodynamic{letter * mistakes}" for letter in "bfghjkmopqtuvwxz" * 25)
    with Searcher(path) as searcher:
        steps = searcher.explain(query, detail="steps").steps
    (fields,) = (step.query for step in steps if step.step == "fields")
    assert fields.count("content:aerodynamic^") == 8


def test_hopeless_words_are_not_all_looked_for(path: str) -> None:
    hopeless = " ".join(f"zzzzq{chr(97 + n)}zzzz" for n in range(8))
    assert found(path, f"{hopeless[:-11]} aerodynmic") == ["aero"]
    assert found(path, f"{hopeless} aerodynmic") == []


@pytest.mark.parametrize(
    ("query", "suggestion"),
    [
        ("kundigungsfrst", "Kündigungsfrist"),
        ("Kuendigungsfrisr", "Kündigungsfrist"),
        ("die Kündigungsfrsit?", "die Kündigungsfrist?"),
        ("strasenbahn", "Straßenbahn"),
        ("resturant", "restaurant"),
        ("inteligence", "intelligence"),
        ("Montevidea", "Montevideo"),
        ("forêtt", "fore\u0302t"),
        ("chrysanthemm", "Chrysanthemum"),
    ],
)
def test_a_suggestion_is_spelled_as_the_documents_spell_the_word(
    new_index: NewIndex, query: str, suggestion: str
) -> None:
    path = new_index(
        Document("a", "A", "Die Kündigungsfrist beträgt drei Monate."),
        Document("b", "B", "Die Straßenbahn fa\u0308hrt nach Montevideo."),
        Document("c", "C", "Restaurant. The restaurant is in the fore\u0302t."),
        Document("d", "D", "Intelligence is an intelligence of its own."),
        Document("e", "Chrysanthemum", "A flower."),
    )
    with Searcher(path) as searcher:
        assert searcher.search(query).suggestion == suggestion


def test_a_misspelled_word_is_not_taken_for_one_with_the_same_stem(empty_index: Path) -> None:
    with Index(empty_index) as index:
        for number in range(20):
            text = f"The weather was severe on day {number} of the journey to the north."
            index.add(Document(f"weather {number}", "Journey", text))
        text = "The severance package of the contractors is paid in the last month."
        index.add(Document("package", "Contract", text))
    with Searcher(empty_index) as searcher:
        answer = searcher.search("severence")
        assert (answer.suggestion, answer.suggestion_applied) == ("severance", True)
        assert answer.results[0].source_document == "package"
        # Forms of a word that no chunk has are no mistakes.
        for form in ("packages", "journeys", "contractor", "severely"):
            assert searcher.search(form).suggestion is None


@pytest.fixture(scope="module")
def english(new_index: NewIndex) -> Path:
    """An index of a language with a dictionary, and an abbreviation."""
    texts = {
        "deposit": "The deposit of two months of rent is paid before the tenant has the keys.",
        "robot": "A robotic arm lifts the boxes from the belt and puts them into the lorry.",
        "lease": "The lease is signed by both parties, and a copy is sent to the landlord.",
        "saga": "NATA is the name of the saga that is read to the children every evening.",
    }
    return new_index(
        *(Document(name, name, text, {"language": "en"}) for name, text in texts.items())
    )


@pytest.mark.parametrize(
    ("query", "first", "suggestion"),
    [
        ("feposit", "deposit", "deposit"),  # the first letter
        ("edposit", "deposit", "deposit"),
        ("eposit", "deposit", "deposit"),
        ("rnet", "deposit", "rent"),  # four letters
        ("lese", "lease", "lease"),
        ("roobotics", "robot", "robotic"),  # no chunk has this form
        ("tenat", "deposit", "tenant"),
    ],
)
def test_the_first_letter_and_short_words_may_be_mistyped(
    english: Path, query: str, first: str, suggestion: str
) -> None:
    with Searcher(english) as searcher:
        answer = searcher.search(query)
    assert answer.results[0].source_document == first
    assert (answer.suggestion, answer.suggestion_applied) == (suggestion, True)


@pytest.mark.parametrize(
    "query",
    [
        "NASA",  # an abbreviation, not "NATA"
        "bent",  # a word, not "rent"
        "sage",
        "ren",  # three letters
        "xwposit",  # the first letter and another one
    ],
)
def test_other_words_of_four_letters_and_abbreviations_stay(english: Path, query: str) -> None:
    with Searcher(english) as searcher:
        answer = searcher.search(query)
    assert (answer.totalHits, answer.suggestion) == (0, None)


def test_in_a_language_without_a_dictionary_the_first_letter_is_right(tmp_path: Path) -> None:
    text = "Katten sover i soffan medan barnen läser en bok om havet och väntar på kvällen."
    add_documents(tmp_path / "index", Document("sv", "Hemma", text, {"language": "sv"}))
    assert found(str(tmp_path / "index"), "hatten") == []
    assert found(str(tmp_path / "index"), "byn") == []
    assert found(str(tmp_path / "index"), "sofffan") == ["sv"]


def test_of_similar_words_only_the_one_that_was_probably_meant_is_searched(tmp_path: Path) -> None:
    with Index(tmp_path / "index", create=True) as index:
        texts = {
            "change": (3, "The change of tenants in flat {} was agreed on by the whole council."),
            "charge": (2, "The charge for the use of lift {} is paid by the owners of the house."),
            "other": (20, "The garden of house {} was full of flowers from May to September."),
        }
        for name, (count, text) in texts.items():
            for number in range(count):
                written = text.format(number)
                index.add(Document(f"{name} {number}", "Note", written, {"language": "en"}))
    hits = found(str(tmp_path / "index"), "chabge")
    assert [hit.split()[0] for hit in hits] == ["change"] * 3
