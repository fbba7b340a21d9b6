"""Limits on the time of what is read within a file."""

from idx.extraction.types import ExtractionOptions, Ocr, within_time


def test_what_is_within_a_file_has_no_more_time_than_is_left_for_the_file() -> None:
    ocr = Ocr("tesseract", "eng", seconds=900)
    options = ExtractionOptions(table_seconds=60, member_seconds=90, ocr=ocr)
    left = within_time(options, 20)
    assert (left.table_seconds, left.member_seconds) == (20, 20)
    assert left.ocr
    assert left.ocr.seconds == 20
    assert within_time(options, 1_000) == options
