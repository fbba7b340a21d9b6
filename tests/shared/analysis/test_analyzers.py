"""What the chains make of words, in every language of the table."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings, strategies as st

from shared import Document, Index, Searcher, create
from shared.analysis.analyzers import (
    analyzer_of,
    folded,
    positions_of,
    tokens,
    tokens_of,
)
from shared.analysis.chains import Chain, built, normalized
from shared.analysis.detection import language_of
from shared.analysis.dictionaries import (
    _FEW_LOOKUPS,
    _rows_by_stem,
    _rows_with,
    irregular_stems,
)
from shared.analysis.languages import (
    LANGUAGES,
    UNDETERMINED,
    WITH_DICTIONARY,
    WITH_FUNCTION_WORDS,
    Step,
    function_words,
    function_words_in,
)
from shared.model import schema
from tests.conftest import add_documents

TEXTS = Path(__file__).parents[2] / "data" / "languages"

WITHOUT_BLANKS = frozenset(("ja", "km", "ko", "lo", "my", "th", "zh"))
"""Languages whose words have no forms here."""


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
    ("ar", "العقد", "عقداً"),
    ("he", "החוזה", "חוזה"),
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
    ("vi", "hợp đồng", "HỢP ĐỒNG"),
    ("yi", "קינדער", "קינד"),
)
"""A language, and two forms of a word in it."""


@pytest.fixture(autouse=True, scope="module")
def _java(tmp_path_factory: pytest.TempPathFactory) -> None:
    create(tmp_path_factory.mktemp("java") / "index")


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    """An index of all forms of words, each in a document in its language."""
    path = tmp_path_factory.mktemp("forms") / "index"
    with Index(path, create=True) as index:
        for language, *words in FORMS_OF_A_WORD:
            for word in words:
                index.add(Document(f"{language} {word}", "1", word, {"language": language}))
    with Searcher(path) as searcher:
        yield searcher


def content_terms(text: str) -> list[str]:
    return [term for _, term in positions_of(analyzer_of(schema.CONTENT), text)]


@pytest.mark.parametrize(
    "language", sorted(LANGUAGES.keys() & {file.stem for file in TEXTS.glob("*.txt")})
)
def test_passages_show_the_words_of_every_language(language: str, empty_index: Path) -> None:
    text = (TEXTS / f"{language}.txt").read_text("utf-8")[:2_000]
    words = content_terms(text) if language in WITHOUT_BLANKS else text.split()
    add_documents(empty_index, Document("text", "Title", text))
    with Searcher(empty_index) as searcher:
        hit = searcher.search(max(words, key=len), syntax="plain", content="passages").results[0]
    assert any("<mark>" in passage for passage in hit.passages or ())


def test_every_language_with_blanks_has_two_forms_of_a_word_here() -> None:
    assert {language for language, *_ in FORMS_OF_A_WORD} == LANGUAGES.keys() - WITHOUT_BLANKS


@pytest.mark.parametrize(("language", "one", "other"), FORMS_OF_A_WORD)
def test_two_forms_of_a_word_find_each_other(
    language: str, one: str, other: str, forms: Searcher
) -> None:
    for searched, written in ((one, other), (other, one)):
        found = {hit.source_document for hit in forms.search(searched, limit=100).results}
        assert f"{language} {written}" in found


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
        ("zh", "合同", "租賃合同的期限"),
        ("zh", "租賃", "租赁合同的期限"),
    ],
)
def test_words_are_found_without_blanks(language: str, word: str, text: str) -> None:
    assert language_of(text) == language
    (token,) = tokens(word, language)
    terms = [term for _, term in positions_of(analyzer_of(schema.STEMS, language), text)]
    assert len(terms) > 2
    assert token.text in terms


def test_articles_are_no_part_of_a_word() -> None:
    assert content_terms("l\u2019eau d'Italie") == ["eau", "italie"]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("node.js", ["nodejs", "node", "js"]),
        ("user@host.de", ["user", "hostde", "host", "de"]),
        ("unlockWithBiometrics", ["unlockwithbiometrics", "unlock", "with", "biometrics"]),
        ("parseHTMLResponse", ["parsehtmlresponse", "parse", "html", "response"]),
        ("10kg", ["10kg", "10", "kg"]),
        ("CO₂ 85 m²", ["co2", "co", "2", "85", "m2", "m", "2"]),
        ("C++ C# .NET", ["cplusplus", "c", "plus", "plus", "csharp", "c", "sharp"]),
        ("R&D", ["rd", "r", "d"]),
        ("§ 5", ["para5", "para", "5"]),
        ("tar -xzf", ["tar", "optxzf", "opt", "xzf"]),
        ("1.250.000 1,250,000 1'250'000", ["1250000"] * 3),
        ("1.234,56 1,234.56 1234.560", ["1234\u203f56"] * 3),
        ("2024.05.01", ["20240501", "2024", "05", "01"]),
        ("hand\u00adrail", ["handrail"]),
        ("\uff46\uff55\uff4c\uff4c", ["full"]),
        ("John\u2019s house", ["john", "house"]),
    ],
)
def test_signs_and_numbers_are_written_in_one_way(text: str, terms: list[str]) -> None:
    assert content_terms(text)[: len(terms)] == terms


def test_the_same_words_in_a_query_are_not_joined() -> None:
    assert [token.text for token in tokens("node.js")] == ["node", "js"]
    assert [token.text for token in tokens("node.js", "en")] == ["en:node", "en:js"]


def test_many_words_are_analyzed_as_one_by_one() -> None:
    words = [
        "node.js",
        "Häuser",
        "",
        "\U0001f600",
        "x" * 300,
        "1.250",
        "契約",
        "Mutter's",
        "\ud800",
    ]
    for language in (None, "de", "ja"):
        assert tokens_of(words, language) == [tokens(f" {word}", language) for word in words]


def test_a_part_of_a_word_is_folded_like_the_word() -> None:
    assert folded("VERTRÄG") == "vertrag"
    assert folded("\u9ad9橋 don\u2019") == "高橋 don'"


@pytest.mark.parametrize(
    ("text", "language", "query"),
    [
        ("Mueller", "de", "Müller"),
        ("Mueller", "de", "Muller"),
        ("Müller", "en", "Mueller"),
        ("Mueller", "en", "Müller"),
    ],
)
def test_a_name_is_found_in_every_spelling_of_its_umlaut(
    text: str, language: str, query: str, empty_index: Path
) -> None:
    sentence = {"de": "Die Kaution zahlt Frau {} im ersten Monat.", "en": "The rent is paid by {}."}
    add_documents(empty_index, Document("a", "Title", sentence[language].format(text)))
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
    for letter in "Aa_ä1.":
        list(positions_of(analyzer_of(schema.STEMS, language), letter * 1_000_000))


@pytest.mark.parametrize(
    ("text", "language", "terms"),
    [
        ("the IT team and they", "en", {"en:it", "en:team"}),
        ("die IT und der Vertrag", "de", {"de:it", "de:vertrag"}),
        ("die", "en", {"en:die"}),
        ("contracts", UNDETERMINED, {"und:contracts"}),
    ],
)
def test_function_words_have_no_stems(text: str, language: str, terms: set[str]) -> None:
    made = positions_of(analyzer_of(schema.STEMS, language), text)
    assert {term for _, term in made} == terms


def test_every_list_of_function_words_is_one() -> None:
    for language in WITH_FUNCTION_WORDS:
        assert 20 < len(function_words(language)) < 700
    assert function_words_in("The") >= {"en"}
    assert function_words_in("IT") == frozenset()
    assert "de" in function_words_in("fuer")


def test_a_chunk_in_no_language_has_that_of_its_document(empty_index: Path) -> None:
    with Index(empty_index) as index:
        index.add(Document("a", "1", "Häuser", {"language": "de"}))
        index.add(Document("b", "2", "Häuser"))
    with Searcher(empty_index) as searcher:
        assert searcher.explain("x").languages == {"de": 0.5, UNDETERMINED: 0.5}
        # Without a language a word is found by its stems in those of the index.
        assert searcher.search("Häuser").totalHits == searcher.search("Haus").totalHits == 2


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Häuser", None),
        ("بيت", "ar"),
        ("дом", "ru"),
        ("σπίτι", "el"),
        ("契約書について", "ja"),
        ("Der Vertrag endet mit dem Jahr.", "de"),
        ('{"a": [1, 2.5, null], "b": "x1"} ' * 50, None),
    ],
)
def test_the_language_of_a_text(text: str, language: str | None) -> None:
    assert language_of(text) == language


def test_the_french_year_is_no_form_of_the_english_article() -> None:
    assert irregular_stems("en", "an") == ()


@pytest.mark.parametrize("language", sorted(WITH_DICTIONARY))
def test_whoever_asks_often_is_told_the_same_irregular_forms(language: str) -> None:
    stems = {"de": "ging", "en": "paid", "es": "fuer", "fr": "cheval", "it": "acqu"}
    stem = stems.get(language, "is")
    told = {tuple(irregular_stems.__wrapped__(language, stem)) for _ in range(_FEW_LOOKUPS + 1)}
    assert len(told) == 1
    assert _rows_with(language, stem).split() == _rows_by_stem(language).get(stem, "").split()


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "part", ["0", "9", "0.", "1,000", "1.0", "aA", "A", "-a", "#", "+", "§ ", "a-    \n", "0 ", "²"]
)
def test_signs_that_are_repeated_without_end_take_no_longer_than_words(part: str) -> None:
    # A filter that looks on from each of them would take an hour.
    text = part * (200_000 // len(part)) + "5"
    assert len(normalized(text)) > 1_000
    assert normalized(text) == by_all_char_filters(text)


def by_all_char_filters(text: str) -> str:
    return str(built(Chain((), Step("keyword"))).normalize("", text).utf8ToString())


@settings(max_examples=3_000, deadline=None)
@given(
    st.text(
        st.sampled_from(
            "aAsSbZ0159 .,'-&+#_/|\t\n\r§$²½\u2010\u00a0\u00ad\u203fμ\u00d7é\u0301\u2019äßжЖ€٣中ำ😀"
        ),
        max_size=16,
    )
)
@example("1.234,50 ABs")
@example("C#.net")
@example("\u203f00.net")
def test_a_text_is_written_as_the_words_of_queries_are(text: str) -> None:
    # Conditions leave out char filters.
    assert normalized(text) == by_all_char_filters(text)
