"""Texts of many languages, and what is no prose."""

import re
import timeit
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from shared.analysis.detection import detect_language

TEXTS = {
    file.stem: file.read_text("utf-8")
    for file in (Path(__file__).parents[2] / "data" / "languages").glob("*.txt")
}
SENTENCE_END = re.compile(r"(?<=[.!?;।。])\s*")
SHORT = {"zh": range(14, 41), "ja": range(14, 41), "ko": range(20, 61)}
NEAR_RELATIVES = {"id": "ms"}
"""A language whose texts are often taken for those of another, even long ones."""

PYTHON = """
def read_lines(path: Path, limit: int = 10) -> list[str]:
    with open(path) as file:
        return [line.rstrip() for _, line in zip(range(limit), file)]


if __name__ == "__main__":
    print(read_lines(Path(sys.argv[1]), int(sys.argv[2])))
"""
CSV = "id;lon;lat;kW\n" + "".join(f"{n};{n * 1.7:.3f};{n / 3:.3f};{n % 7}\n" for n in range(200))
JSON = '{"a": [1, 2, {"b": null, "c": true}], "url": "http://127.0.0.1:80/x?y=z", "n": 1.5e7}' * 20


def sentences(language: str) -> Iterator[str]:
    length = SHORT.get(language, range(40, 101))
    return (s for s in SENTENCE_END.split(TEXTS[language]) if len(s) in length)


@pytest.mark.parametrize("language", sorted(TEXTS.keys() - NEAR_RELATIVES))
def test_a_long_text_is_detected(language: str) -> None:
    assert detect_language(TEXTS[language]) == language


@pytest.mark.parametrize(("language", "relative"), NEAR_RELATIVES.items())
def test_a_long_text_may_be_taken_for_a_near_relative(language: str, relative: str) -> None:
    assert detect_language(TEXTS[language]) in {language, relative}


def test_there_are_texts_in_all_languages_that_are_promised() -> None:
    promised = (
        "ar bg bn ca cs da de el en es et fa fi fr he hi hr hu id it ja ko lt lv nl no pl pt ro "
        "ru sk sl sr sv ta th tr uk vi zh"
    )
    assert sorted(TEXTS) == promised.split()


def test_nearly_every_sentence_is_detected() -> None:
    found = [
        (language, detect_language(sentence))
        for language in TEXTS.keys() - NEAR_RELATIVES
        for sentence in sentences(language)
    ]
    right = sum(language == detected for language, detected in found)
    wrong = sum(detected not in {None, language} for language, detected in found)
    assert len(found) > 250
    assert right / len(found) > 0.95
    assert wrong / len(found) < 0.03


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "Hotel",
        "42",
        "3.14 2.72 " * 300,
        "???!!!",
        "👍" * 50,
        "http://example.org/der/die/das",
    ],
)
def test_too_little_is_not_guessed(text: str) -> None:
    assert detect_language(text) is None


@pytest.mark.parametrize("text", [PYTHON, CSV, JSON], ids=["Python", "CSV", "JSON"])
def test_what_is_no_prose_is_not_taken_for_a_foreign_language(text: str) -> None:
    assert detect_language(text) in {None, "en"}


@pytest.mark.parametrize(
    ("text", "language"),
    [
        # The detector knows none of them, or is not sure.
        ("Область состоит из одного объединенного статистического ареала, и для", "ru"),
        ("De Nederlanders en de Belgen van het Benelux", "nl"),
        # Names in another language than the text.
        ("El coro de San Francisco y la Golden Gate Park Band del parque", "es"),
    ],
)
def test_function_words_tell_the_language_where_the_detector_does_not(
    text: str, language: str
) -> None:
    assert detect_language(text) == language


def test_data_without_words_is_in_no_language() -> None:
    assert detect_language(CSV) is None
    assert detect_language(JSON) is None


def test_words_in_a_table_are_in_their_language() -> None:
    rows = (line.replace(", ", ";") for line in TEXTS["fr"].splitlines())
    assert detect_language("\n".join(f"{n};{row}" for n, row in enumerate(rows))) == "fr"


def test_letters_of_a_list_are_no_words() -> None:
    menu = (
        "Montag: Kräutercreme A,C,G,L Gemüserostbraten mit Knödeln A,C,G\n"
        "Dienstag: Fenchelsuppe A,G,L Hühnerschnitzel mit Reis und Salat A,C,G,L\n"
        "Mittwoch: Knoblauchbrot A,C,L Würstel mit Erdäpfeln L,O"
    )
    assert detect_language(menu) == "de"


def test_the_main_language_of_a_mixed_text_counts() -> None:
    german, greek = TEXTS["de"], TEXTS["el"]
    assert detect_language(f"{german[:600]}\n{greek[:60]}") == "de"
    assert detect_language(f"{german[:60]}\n{greek[:600]}") == "el"


def test_a_text_of_many_languages_has_no_main_one() -> None:
    pieces = [
        TEXTS[language][:100] for language in ("de", "fi", "pl", "tr", "vi", "hu", "es", "cs")
    ]
    assert detect_language("\n".join(pieces)) is None


def test_a_foreign_preface_does_not_hide_the_language() -> None:
    assert detect_language(TEXTS["en"][:500] + TEXTS["pl"] * 3) == "pl"


def test_web_addresses_do_not_count() -> None:
    address = "https://example.org/the-best-and-the-worst-of-all-the-pages-in-the-world "
    assert detect_language(address * 5 + TEXTS["sv"][:200]) == "sv"


@pytest.mark.parametrize(
    "character", ["\0", "\x01", "\x7f", "\ud800", "\ufdd0", "\uffff", "\U0010ffff"]
)
def test_characters_that_are_not_for_exchange_do_not_matter(character: str) -> None:
    assert detect_language(TEXTS["de"][:300].replace(" ", f" {character}")) == "de"


def test_both_forms_of_norwegian_are_norwegian() -> None:
    nynorsk = (
        "Eg veit ikkje kva me skal gjera i dag, men eg vil gjerne vera heime og lesa ei bok om dei "
        "som budde her før oss, og korleis dei levde."
    )
    assert detect_language(nynorsk) == "no"


def test_a_language_without_a_code_of_two_letters_is_not_told() -> None:
    cebuano = (
        "Ang tanang katawhan gipakatawo nga may kagawasan ug managsama sa kabililhon. Sila "
        "gigasahan sa salabutan ug tanlag ug mag-ilhanay isip managsoon sa usa ug usa."
    )
    assert detect_language(cebuano) is None


def test_only_a_sample_of_a_long_text_is_looked_at() -> None:
    seconds = []
    for text in (TEXTS["de"], TEXTS["de"] * 5000):
        assert detect_language(text) == "de"
        seconds.append(min(timeit.repeat(partial(detect_language, text), number=20, repeat=5)))
    assert seconds[1] < 10 * seconds[0]
