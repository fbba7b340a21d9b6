"""What a message says itself, apart from what it quotes."""

import pytest

from idx.containers.message import quoted_apart


@pytest.mark.parametrize(
    ("text", "own", "quoted"),
    [
        ("Yes.\n\n> A?\n> B?\n", "Yes.\n\n", "A?\nB?"),
        ("> A?\n\nYes.\n> B?\nNo.", "\n\nYes.\n\nNo.", "A?\nB?"),
        (
            "Ja.\n\nAm 1.3.2025 um 10:00 schrieb Bo:\n\n> A?\n>> B?",
            "Ja.\n",
            "Am 1.3.2025 um 10:00 schrieb Bo:\nA?",
        ),
        (
            "Yes.\n-----Original Message-----\nFrom: Bo\nSent: today\nSubject: A\n\nA?",
            "Yes.",
            "From: Bo\nSent: today\nSubject: A\n\nA?",
        ),
        ("> only\n> quoted", "> only\n> quoted", ""),
        ("A\n-----\nB", "A\n-----\nB", ""),
        ("no quotation", "no quotation", ""),
    ],
)
def test_quotations_are_set_apart(text: str, own: str, quoted: str) -> None:
    assert quoted_apart(text) == (own, quoted)
