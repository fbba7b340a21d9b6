"""Tables whose rows were merged are told by the plain text."""

import pytest

from idx.pdf.tables import loses_words, merges_rows

PLAIN = "State Count\nAlabama 18,870\nAlaska 209\nArizona 2,303"


@pytest.mark.parametrize(
    ("tables", "plain", "is_merged"),
    [
        ("State | Count\nAlabama Alaska Arizona | 18,870 209 2,303", PLAIN, True),
        ("State | Count\nAlabama | 18,870\nAlaska | 209\nArizona | 2,303", PLAIN, False),
        ("Sizes in mm | 10 20 30", "Sizes in mm 10 20 30", False),
        ("one two three | four five six", "one four\ntwo five\nthree six", False),
        ("No table", PLAIN, False),
    ],
)
def test_bands_of_rows_are_recognized(tables: str, plain: str, is_merged: bool) -> None:
    assert merges_rows(tables, plain) == is_merged


def test_numbers_in_pieces_are_recognized() -> None:
    rows = [f"State {number} | {number},062.6" for number in range(10)]
    plain = "\n".join(row.replace(" | ", " ") for row in rows)
    assert not loses_words("\n".join(rows), plain)
    assert loses_words("\n".join(row.replace(".6", " .6") for row in rows), plain)
