"""Numbers of a query in the ways in which texts write them: telephone numbers, IBANs, versions."""

import re
from collections.abc import Iterable, Sequence
from itertools import islice, pairwise
from typing import Final

from shared.analysis.analyzers import tokens_of
from shared.analysis.languages import PUNCTUATION
from shared.model import schema
from shared.model.weights import Weights
from shared.query.dates import Row, dates_and_times, school_year, written_as
from shared.query.terms import IndexTerms
from shared.query.tree import Node, Nothing, Pattern, Terms, Values, any_of, best_of, scaled

COUNTS: Final = re.compile(r"\d+[:\u2013]\d+|\d{1,2}[-\u2011\u2212]\d{1,2}")
"""Two numbers, as in 3:1, which is not 31."""

THOUSANDS: Final = re.compile(r"[1-9]\d{0,2}( \d{3})+(\u203f\d+)?")
"""Terms of a number with blanks, such as 2 350,50."""

_DIGITS: Final = re.compile(
    r"(?:\+|\b|(?<=[A-Za-z]))(?:\d{1,4}(?:\.\d{3}){2,9}(?:[/-]?\d){0,12}"
    r"|\d(?:[ \u00a0/()\u2013-]{0,2}\d){4,33})(?![.,]?\d)"
)
"""Five digits and more, with the signs between them that telephone and account numbers have, or the
points between thousands that numbers of taxes have."""

_DIGIT: Final = re.compile(r"\d")

_VERSION: Final = re.compile(r"v(\d{1,4}(?:\.\d{1,4}){1,3})|(\d{1,4}\.\d{1,4})")
_YEARS: Final = re.compile(r"(?:(?:19|20)\d\d ?)+")

_ROMAN: Final = {
    str(10 * tens + ones): "x" * tens + letters
    for tens in range(4)
    for ones, letters in enumerate(("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"))
    if tens or ones
}
_OTHER_NUMERALS: Final = _ROMAN | {roman: number for number, roman in _ROMAN.items()}

_FEWEST_BEHIND_ZEROS: Final = 2  # digits of one that a text may have with zeros before it
_FEWEST_WITH_BLANK: Final = 4  # digits of one that a text may have with a blank, as in 5 000
_FEWEST_OF_A_SUFFIX: Final = 7  # digits by which the end of a longer number is found
_LONGEST_WITH_ZEROS: Final = 8  # digits of a number that zeros begin, as in INV-0042
_COUNTRY_CODES: Final = (1, 2, 3)  # their numbers of digits (ITU-T E.164)
_MOST_IN_A_QUERY: Final = 8  # versions, and numbers behind a word
_WITHIN_RUSSIA: Final = re.compile(r"8\d{10}")  # with 8 in place of the country code


def with_zeros(number: str, terms: IndexTerms) -> Node:
    """Return a number with zeros before it, such as 0042 for 42."""
    if not number.isdigit() or len(number) < _FEWEST_BEHIND_ZEROS:
        return Nothing()
    lengths = range(len(number) + 1, _LONGEST_WITH_ZEROS + 1)
    there = terms.there(schema.CONTENT, [number.zfill(length) for length in lengths])
    return Terms(schema.CONTENT, there) if there else Nothing()


def releases(words: Sequence[str], terms: IndexTerms, weights: Weights) -> Node:
    """Return versions among some words as parts of others: 3.12.4 for 3.12, 2.10.1 for v2.10.1."""
    versions = filter(None, (_VERSION.fullmatch(word.strip(PUNCTUATION)) for word in words))
    numbers = ((found[1] or found[2]).split(".") for found in islice(versions, _MOST_IN_A_QUERY))
    rows = (terms.row(schema.CONTENT, [(one,) for one in parts]) for parts in numbers)
    return scaled(any_of(*rows), weights.part)


def in_other_numerals(words: Sequence[str], terms: IndexTerms) -> Node:
    """Return words before a number with it in the other numerals: Henry VIII for Henry 8."""
    single = [of[0].text if len(of) == 1 else "" for of in tokens_of(words)]
    meant = (pair for pair in pairwise(single) if pair[0] and pair[1] in _OTHER_NUMERALS)
    rows = (
        terms.row(schema.CONTENT, ((before,), (_OTHER_NUMERALS[number],)))
        for before, number in islice(meant, _MOST_IN_A_QUERY)
    )
    return any_of(*rows)


def of_words(text: str, terms: IndexTerms, weights: Weights) -> Node:
    """Return the numbers of several words: telephone numbers with blanks, dates and times."""
    if not _DIGIT.search(text):
        return Nothing()
    runs = [run for run in _DIGITS.findall(text) if " " in run and not _YEARS.fullmatch(run)]
    # Each stands for so many words.
    numbers = any_of(*(scaled(_runs([run], terms, weights), run.count(" ") + 1) for run in runs))
    return any_of(numbers, _rows(dates_and_times(text), terms, weights))


def of_word(word: str, term: str, terms: IndexTerms, weights: Weights) -> Node:
    """Return the numbers of a word; its term is empty if it has several parts."""
    if not _DIGIT.search(word):
        return Nothing()
    if len(term) == _FEWEST_WITH_BLANK and term.isdigit():
        # Mostly a year, which is another number than 2 000.
        there = terms.there(schema.DIGITS, (term[::-1],))
        numbers: Node = Values(schema.DIGITS, there) if there else Nothing()
    else:
        # The term of a number is without the signs between its thousands.
        is_number = len(term) > _FEWEST_WITH_BLANK and term.isdigit()
        runs = _DIGITS.findall(word) or ([term] if is_number else [])
        numbers = _runs([run for run in runs if not school_year(run)], terms, weights)
    return any_of(numbers, _rows(written_as(word), terms, weights))


def _rows(rows: Iterable[Row], terms: IndexTerms, weights: Weights) -> Node:
    """Return some ways to write the same, each a row of terms of the content."""
    nodes = (terms.row(schema.CONTENT, row.positions, row.slop) for row in rows)
    return scaled(any_of(*nodes), weights.whole)


def _runs(runs: Iterable[str], terms: IndexTerms, weights: Weights) -> Node:
    return any_of(*(scaled(_number(run, terms), weights.digits) for run in runs))


def _number(run: str, terms: IndexTerms) -> Node:
    digits = "".join(filter(str.isdigit, run))
    alike = [digits]
    if _WITHIN_RUSSIA.fullmatch(digits):
        alike += [f"7{digits[1:]}", digits[1:]]
    end = digits.removeprefix("0")
    if run.startswith("+") or digits.startswith("00"):
        begin = 0 if run.startswith("+") else 2
        # Texts may have a zero behind the country code: +49 (0)30.
        end = digits[begin + 2 :].removeprefix("0")
        alike += [digits[begin:]]
        for code in _COUNTRY_CODES:
            alike += [digits[begin + code :], f"0{digits[begin + code :]}"]
    there = terms.there(schema.DIGITS, (one[::-1] for one in dict.fromkeys(alike) if one))
    nodes: list[Node] = [Values(schema.DIGITS, there)] if there else []
    if terms.frequency(schema.CONTENT, digits):
        nodes.append(Values(schema.CONTENT, (digits,)))
    if len(digits) >= _FEWEST_OF_A_SUFFIX and len(end) >= _FEWEST_OF_A_SUFFIX - 1:
        nodes.append(Pattern(schema.DIGITS, f"{end[::-1]}*", scored=False))
    return best_of(*nodes)
