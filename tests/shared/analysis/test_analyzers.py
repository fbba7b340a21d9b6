"""What the chains make of words, in every language of the table."""

from pathlib import Path

import pytest

from shared import Document, Index, Searcher, create
from shared.analysis.analyzers import normalized, query_analyzer, tokens, tokens_of
from shared.analysis.detection import languages_of, presumed_languages
from shared.analysis.languages import LANGUAGES, UNDETERMINED, WITH_LEMMAS, WITHOUT_BLANKS
from shared.analysis.stems import irregular_stems, segments, stemmed, stems, stems_of_query
from shared.analysis.transliteration import without_digraphs
from shared.model import schema

TEXTS = Path(__file__).parents[2] / "data" / "languages"


FORMS_OF_A_WORD = (
    ("de", "Häuser", "Haus"),
    ("de", "hauser", "Haus"),
    ("de", "ging", "gehen"),
    ("en", "ran", "run"),
    ("en", "paid", "pay"),
    ("en", "analyses", "analysis"),
    ("en", "chatbots", "chatbot"),
    ("en", "company's", "company"),
    ("en", "vibrational", "vibration"),
    ("fr", "chevaux", "cheval"),
    ("fr", "l'assurance", "assurances"),
    ("es", "casas", "casa"),
    ("it", "dell'acqua", "acque"),
    ("nl", "huizen", "huis"),
    ("pt", "contratos", "contrato"),
    ("pl", "umowy", "umowa"),
    ("uk", "договорами", "договір"),
    ("ru", "договорами", "договор"),
    ("sv", "husen", "hus"),
    ("fi", "talossa", "talo"),
    ("el", "σπίτια", "σπίτι"),
    ("tr", "evlerin", "ev"),
    ("ar", "الكتاب", "كتاب"),
    ("hi", "किताबें", "किताब"),
    ("bg", "градове", "град"),
    ("bn", "মানুষের", "মানুষ"),
    ("ca", "contractes", "contracte"),
    ("cs", "hradech", "hrad"),
    ("da", "bilerne", "biler"),
    ("et", "raamatud", "raamat"),
    ("eu", "liburuak", "liburu"),
    ("fa", "کتابی", "کتاب"),
    ("ga", "bhád", "bád"),
    ("ga", "filíochta", "filíocht"),
    ("gl", "contratos", "contrato"),
    ("hu", "szerződések", "szerződés"),
    ("hy", "քաղաքներից", "քաղաք"),
    ("id", "rumahnya", "rumah"),
    ("ku", "پیاوەکە", "پیاو"),
    ("lt", "sutartys", "sutartis"),
    ("lv", "līgumi", "līgums"),
    ("ne", "किताबहरू", "किताब"),
    ("no", "kontrakter", "kontrakt"),
    ("ro", "contractului", "contract"),
    ("sr", "уговори", "ugovor"),
    ("ta", "புத்தகங்கள்", "புத்தகம்"),
    ("te", "పిల్లలు", "పిల్ల"),
    ("yi", "קינדער", "קינד"),
)
"""A language, and two forms of a word in it."""


@pytest.fixture(autouse=True, scope="module")
def _java(tmp_path_factory: pytest.TempPathFactory) -> None:
    create(tmp_path_factory.mktemp("java") / "index")


def indexed(text: str, *languages: str) -> set[str]:
    """Return the terms of a text in the index."""
    return set(stemmed(languages, text).split())


def asked(word: str, *languages: str) -> set[str]:
    """Return the terms by which a word is searched."""
    found = stems_of_query(languages, word)
    return {*found, *irregular_stems(found)}


@pytest.mark.parametrize(
    "language", sorted(LANGUAGES.keys() & {file.stem for file in TEXTS.glob("*.txt")})
)
def test_passages_show_the_words_of_every_language(language: str, empty_index: Path) -> None:
    text = (TEXTS / f"{language}.txt").read_text("utf-8")[:2_000]
    words = list(segments(language, text)) if language in WITHOUT_BLANKS else text.split()
    with Index(empty_index) as index:
        index.add(Document("text", "Title", text))
    with Searcher(empty_index) as searcher:
        hit = searcher.search(max(words, key=len), syntax="plain", content="passages").results[0]
    assert any("<mark>" in passage for passage in hit.passages or ())


def test_passages_show_only_pairs_of_korean_syllables_within_words(empty_index: Path) -> None:
    text = "나의 임대차계약서 기간은 삼 개월이고 계약금은 백만 원입니다. He said AI of 2025."
    with Index(empty_index) as index:
        index.add(Document("text", "Title", text))
    with Searcher(empty_index) as searcher:
        (hit,) = searcher.search("AI 계약", content="passages").results
    (passage,) = hit.passages or ("",)
    assert "<mark>임대차계약서</mark>" in passage
    assert "<mark>AI</mark>" in passage
    assert passage.count("<mark>") == 3


def test_every_language_with_blanks_has_two_forms_of_a_word_here() -> None:
    assert {language for language, *_ in FORMS_OF_A_WORD} == LANGUAGES.keys() - WITHOUT_BLANKS


@pytest.mark.parametrize(("language", "one", "other"), FORMS_OF_A_WORD)
def test_two_forms_of_a_word_have_a_term_in_common(language: str, one: str, other: str) -> None:
    assert indexed(one, language) & asked(other, language)
    assert indexed(other, language) & asked(one, language)


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("en", "news", "new"),
        ("en", "university", "universe"),
        ("en", "organ", "organization"),
        ("de", "Wand", "wandern"),
        ("es", "puerta", "puerto"),
        ("fr", "port", "porte"),
    ],
)
def test_two_words_have_no_term_in_common(language: str, one: str, other: str) -> None:
    assert not indexed(one, language) & asked(other, language)
    assert not indexed(other, language) & asked(one, language)


@pytest.mark.parametrize("language", WITH_LEMMAS)
def test_no_term_shows_the_mark_of_the_dictionary(language: str) -> None:
    text = (TEXTS / f"{language}.txt").read_text("utf-8")
    assert all(len(term.split(":", 1)[1]) for term in indexed(text, language))


@pytest.mark.parametrize(
    ("language", "word", "text"),
    [
        ("ja", "契約", "契約書について"),
        ("km", "ភ្នំពេញ", "ខ្ញុំចង់ជួលផ្ទះនៅភ្នំពេញ"),
        ("ko", "계약", "임대차계약서에"),
        ("lo", "ເຮືອນ", "ຂ້ອຍຢາກເຊົ່າເຮືອນຢູ່ວຽງຈັນ"),
        ("my", "အိမ်", "ကျွန်တော်အိမ်ငှားချင်ပါတယ်"),
        ("th", "กรุงเทพ", "ผมต้องการเช่าบ้านในกรุงเทพ"),
        ("zh", "合同", "租赁合同的期限"),
    ],
)
def test_words_are_found_without_blanks(language: str, word: str, text: str) -> None:
    (term,) = segments(language, word)
    terms = list(segments(language, text))
    assert len(terms) > 2
    assert term in terms


def test_articles_are_no_part_of_a_word() -> None:
    words = tokens(schema.CONTENT, "l\u2019eau d'Italie O'Brien")
    assert words == (("eau",), ("italie",), ("o'brien",))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("see (DEC-0054), or v2.3.1.", ["dec-0054", "v2.3.1"]),
        ("a_b.c user@host C++ C# .NET", ["a_b.c", "user@host", "c++", "c#", ".net"]),
        ("TCP/IP at 12:30, AT&T", ["tcp/ip", "12:30", "at&t"]),
        ("plain words, with signs! (only) around", []),
    ],
)
def test_names_with_signs_stay_whole(text: str, names: list[str]) -> None:
    assert [terms[0] for terms in tokens(schema.IDENTIFIERS, text)] == names


def test_a_part_of_a_word_is_folded_like_the_word() -> None:
    assert normalized(schema.CONTENT, "VERTRÄG") == "vertrag"


@pytest.mark.parametrize(
    ("word", "spelled"),
    [
        ("mueller", "muller"),
        ("groesse", "grosse"),
        ("bauer", "bauer"),
        ("queue", "queue"),
        ("blue", "blue"),
    ],
)
def test_an_e_in_place_of_an_umlaut(word: str, spelled: str) -> None:
    assert without_digraphs(word) == spelled


@pytest.mark.parametrize(
    ("text", "language", "query"),
    [
        ("Mueller", "de", "Müller"),
        ("Mueller", "de", "Muller"),
        ("Müller", "en", "Mueller"),
        ("Mueller", "en", "Müller"),
        ("Mueller", "en", "Muller"),
    ],
)
def test_a_name_is_found_in_every_spelling_of_its_umlaut(
    text: str, language: str, query: str, empty_index: Path
) -> None:
    sentence = {"de": "Die Kaution zahlt Frau {} im ersten Monat.", "en": "The rent is paid by {}."}
    with Index(empty_index) as index:
        index.add(Document("a", "Title", sentence[language].format(text)))
    with Searcher(empty_index) as searcher:
        assert searcher.search(query).totalHits == 1
        assert searcher.search("poet pot").totalHits == 0


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "language",
    [
        "de",
        *(pytest.param(code, marks=pytest.mark.soak) for code in ("en", "pl", "ja", UNDETERMINED)),
    ],
)
def test_a_word_may_be_a_megabyte_long(language: str) -> None:
    for letter in "Aa_ä":
        stemmed((language,), letter * 1_000_000)


@pytest.mark.parametrize(
    ("word", "language", "terms"),
    [
        ("e-mails", "en", {"en:e", "en:mail", "en:email"}),
        ("snake_case_names", "en", {"en:snake", "en:case", "en:name", "en:snake_case_names"}),
        ("the", "en", set()),
        ("IT", "en", {"en:it"}),
        ("die", "de", set()),
        ("die", "en", {"en:die"}),
        ("łazienkę", "pl", {"pl:lazienka", "pl:lazienke"}),
        ("Batterie", "en", {"en:batteri", "en:batterie"}),
    ],
)
def test_the_terms_of_a_word(word: str, language: str, terms: set[str]) -> None:
    assert set(stems([language], [word], word)[word]) == terms


@pytest.mark.parametrize(
    ("query", "word", "language", "is_found"),
    [
        ("contracted", "Contract", "de", True),
        ("Vertrages", "Vertrag", "en", True),
        ("Batterie", "battery", "en", False),
        ("Batterie", "Batterie", "en", True),
        ("Kurs", "Kur", "de", False),
    ],
)
def test_a_word_in_a_text_of_another_language(
    query: str, word: str, language: str, is_found: bool
) -> None:
    assert bool(indexed(word, language) & asked(query, "de", "en")) == is_found


def test_a_chunk_may_be_in_two_languages() -> None:
    both = "We paid the invoice yesterday. Die Rechnung wurde gestern bezahlt."
    assert set(languages_of(both)) == {"de", "en"}


def test_a_long_text_in_two_languages() -> None:
    halves = [(TEXTS / f"{code}.txt").read_text("utf-8")[:800] for code in ("de", "en")]
    assert set(languages_of(" ".join(halves))) == {"de", "en"}


@pytest.mark.parametrize(
    ("text", "languages"),
    [
        ("Häuser", WITH_LEMMAS),
        ("بيت", ("ar", "fa")),
        ("дом", ("bg", "ru", "sr", "uk")),
        ('{"a": [1, 2.5, null], "b": "x1"} ' * 50, ("en",)),
    ],
)
def test_a_text_whose_language_cannot_be_told(text: str, languages: tuple[str, ...]) -> None:
    assert languages_of(text) == ()
    assert presumed_languages(text) == languages


@pytest.mark.parametrize("word", ["a", "Lease", "NASA", "kachelofen", "x" * 64])
def test_a_word_of_ascii_letters_is_folded_as_the_analyzer_does(word: str) -> None:
    assert tokens(schema.CONTENT, word) == tokens_of(query_analyzer(schema.CONTENT), word)
    assert normalized(schema.CONTENT, word) == tokens(schema.CONTENT, word)[0][0]
