"""What the chains make of words, in every language of the table."""

from pathlib import Path

import pytest

from shared import create
from shared.analysis.analyzers import normalized, tokens
from shared.analysis.detection import languages_of
from shared.analysis.languages import LANGUAGES, WITH_LEMMAS, WITHOUT_BLANKS
from shared.analysis.transliteration import transliterable, without_digraphs
from shared.model import schema
from shared.query.tree import Terms
from shared.search.highlighting import Passages
from shared.search.query_parts import Part

TEXTS = Path(__file__).parents[2] / "data" / "languages"


FORMS_OF_A_WORD = (
    ("de", "Häuser", "Haus"),
    ("de", "hauser", "Haus"),
    ("de", "ging", "gehen"),
    ("de", "im", "in"),
    ("de", "im", "dem"),
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


def forms(language: str, text: str) -> list[set[str]]:
    return [set(terms) for terms in tokens(schema.language_field(schema.CONTENT, language), text)]


def passages_of(terms: Terms) -> Passages:
    return Passages([[Part([(terms, 1.0)], 1.0)]])


@pytest.mark.parametrize(
    "language", sorted(LANGUAGES.keys() & {file.stem for file in TEXTS.glob("*.txt")})
)
def test_passages_show_base_forms_of_every_language(language: str) -> None:
    text = (TEXTS / f"{language}.txt").read_text("utf-8")[:2_000]
    base_form = max((form for terms in forms(language, text) for form in terms), key=len)
    term = Terms(schema.language_field(schema.CONTENT, language), (base_form,))
    assert any("<mark>" in passage for passage in passages_of(term).of(text))


def test_passages_show_only_pairs_of_korean_syllables_within_words() -> None:
    terms = Terms("content.ko", ("ai", "5", "의", "계약"))
    (passage,) = passages_of(terms).of("He said AI of 2025, 나의 임대차계약서")
    assert passage == "He said <mark>AI</mark> of 2025, 나의 <mark>임대차계약서</mark>"


def test_every_language_with_blanks_has_two_forms_of_a_word_here() -> None:
    assert {language for language, *_ in FORMS_OF_A_WORD} == LANGUAGES.keys() - WITHOUT_BLANKS


@pytest.mark.parametrize(("language", "one", "other"), FORMS_OF_A_WORD)
def test_two_forms_of_a_word_have_a_term_in_common(language: str, one: str, other: str) -> None:
    assert forms(language, one)[0] & forms(language, other)[0]


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
    assert not forms(language, one)[0] & forms(language, other)[0]


@pytest.mark.parametrize("language", WITH_LEMMAS)
def test_no_term_shows_the_mark_of_the_dictionary(language: str) -> None:
    text = (TEXTS / f"{language}.txt").read_text("utf-8")
    assert not [term for terms in forms(language, text) for term in terms if term != term.strip()]


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
    (term,) = forms(language, word)
    terms = forms(language, text)
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


def test_which_words_may_be_spelled_with_an_umlaut() -> None:
    text = "The poet Mueller met Frau Öztürk in the garden"
    assert transliterable(text.split(), german=False).split() == ["Öztürk", "Mueller"]
    assert "poet" in transliterable(text.split(), german=True)
    assert transliterable(["Oezdemir", "deKoenig", "AE"], german=False).split() == [
        "Oezdemir",
        "Koenig",
        "AE",
    ]


@pytest.mark.parametrize("german", [True, False])
@pytest.mark.timeout(60)
def test_a_word_may_be_a_megabyte_long(german: bool) -> None:
    for letter in "Aa_ä":
        assert len(transliterable([letter * 1_000_000], german=german)) in {0, 1_000_000}


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
    assert languages_of(text) == languages
