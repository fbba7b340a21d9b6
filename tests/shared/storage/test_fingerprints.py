"""Fingerprints estimate the share of word sequences that two texts have in common."""

import random

import pytest

from shared.storage.fingerprints import Fingerprint, Fingerprinter

WORDS = [f"word{number}" for number in range(5_000)]


def words(seed: int, count: int) -> list[str]:
    return random.Random(seed).choices(WORDS, k=count)  # noqa: S311 - no secret


def fingerprint(*parts: str) -> Fingerprint:
    made = Fingerprinter()
    for part in parts:
        made.add(part)
    return made.fingerprint


def of(text: list[str]) -> Fingerprint:
    return fingerprint(" ".join(text))


@pytest.mark.parametrize("changed", [20, 60, 150, 400])
def test_the_resemblance_is_that_of_the_sets_of_shingles(changed: int) -> None:
    count, errors = 800, []
    for seed in range(20):
        text = words(seed, count)
        other = [*words(seed + 1_000, changed), *text[changed:]]
        exact = (count - changed - 3) / (count + changed - 3)
        errors.append(of(text).resemblance(of(other)) - exact)
    assert abs(sum(errors) / len(errors)) < 0.03
    assert max(map(abs, errors)) < 0.15


def test_case_punctuation_line_breaks_and_parts_do_not_count() -> None:
    text = words(1, 500)
    plain = of(text)
    assert fingerprint(",\n".join(word.upper() for word in text) + ".") == plain
    # The parts of a text overlap, as chunks do.
    assert fingerprint(" ".join(text[:250]), " ".join(text[210:])) == plain
    assert plain.resemblance(of(text[::-1])) < 0.1


def test_texts_in_ascii_have_the_words_that_others_have() -> None:
    text = "".join(map(chr, range(128))) + " It's a_b-c: 4.5 x "
    # The sign at the end is not part of a word, but not in ASCII.
    assert fingerprint(text) == fingerprint(f"{text}\u201d")


@pytest.mark.parametrize("text", ["yes", "Yes!", "---", "\xa0", "\x0c", "数学", "a b c d"])
def test_a_short_text_is_told_from_others(text: str) -> None:
    made = fingerprint(text)
    assert made.resemblance(fingerprint(text)) == 1
    assert len(made.terms) == 1
    assert made.resemblance(fingerprint("no")) == 0
    assert Fingerprint.load(made.dump()) == made


@pytest.mark.parametrize("count", [1, 5, 40, 300, 5_000])
def test_it_is_stored_in_few_bytes(count: int) -> None:
    made = of(words(count, count))
    stored = made.dump()
    assert Fingerprint.load(stored) == made
    assert len(stored) <= min(169, 21 + 5 * count)
    assert len(made.terms) == min(6, max(1, count - 3))


@pytest.mark.parametrize("stored", [b"", b"\x02abc", b"\x01", of(["one"]).dump()[:-1]])
def test_bytes_of_another_kind_are_told_apart(stored: bytes) -> None:
    assert Fingerprint.load(stored) is None


def test_versions_have_a_term_in_common() -> None:
    for seed in range(200):
        text = words(seed, 600)
        other = [*words(seed + 1_000, 60), *text[60:]]
        assert set(of(text).terms) & set(of(other).terms), seed
