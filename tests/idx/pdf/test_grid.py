"""Which pages of a PDF are looked at for ruled tables."""

from pathlib import Path

from tests.idx.extraction.pdf_files import FOUR_CELLS, by_hand, extract, pages_by_hand, stream

# A box has five lines or moves, and there are 380 boxes.
_DOTS = "".join(f"{x} {y} 1 1 re S " for x in range(0, 300, 8) for y in range(200, 280, 8))


def test_a_drawing_of_very_many_lines_is_left_to_pdfium(tmp_path: Path) -> None:
    for repeated, separator in ((5, " | "), (6, " ")):
        objects = pages_by_hand([5], FOUR_CELLS + _DOTS * repeated)
        text = extract(by_hand(tmp_path / "a.pdf", objects)).text
        assert text == f"c00{separator}c01\nc10{separator}c11"


def test_lines_in_form_objects_are_counted_with_those_of_the_page(tmp_path: Path) -> None:
    # Those of the page and of each form object alone are few.
    objects = pages_by_hand(
        [5],
        f"{FOUR_CELLS} /X1 Do /X2 Do",
        page="/Resources<</XObject<</X1 6 0 R/X2 7 0 R>>/Font<</F1 4 0 R>>>>",
    )
    for repeated, separator in ((2, " | "), (3, " ")):
        for number in (6, 7):
            objects[number] = stream(
                _DOTS * repeated, "/Type/XObject/Subtype/Form/BBox[0 0 300 300]"
            )
        text = extract(by_hand(tmp_path / "a.pdf", objects)).text
        assert text == f"c00{separator}c01\nc10{separator}c11"


def test_a_grid_of_boxes_in_units_of_its_own_is_found(tmp_path: Path) -> None:
    boxes = "".join(
        f"{x} {y} m {x + 0.6} {y} l {x + 0.6} {y + 0.2} l {x} {y + 0.2} l h S "
        for x in (0, 0.6)
        for y in (1, 1.2)
    )
    words = FOUR_CELLS[FOUR_CELLS.index("BT") :]
    file = by_hand(
        tmp_path / "a.pdf", pages_by_hand([5], f"q 100 0 0 100 0 0 cm .01 w {boxes} Q {words}")
    )
    assert extract(file).text == "c00 | c01\nc10 | c11"
