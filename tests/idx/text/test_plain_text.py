import tracemalloc
from pathlib import Path

import pytest

from idx.extraction.formats import extract
from idx.extraction.types import ExtractionOptions
from tests.idx.conftest import Read

ODD = "a\u00adb ﬁ  c\t\r\nd\u200b-\r\ne \u202e"


@pytest.mark.parametrize(
    "name", ["a.txt", "a.py", "a.csv", "a.json", "a.xml", "a.md", "a.yaml", "a.log", "a"]
)
def test_own_text_stays_as_it_stands_in_the_file(read: Read, name: str) -> None:
    extracted = read(name, "\ufeff" + ODD)
    assert extracted.text == ODD
    assert extracted.is_own_text
    assert extracted.title is None
    assert extracted.metadata == {}


def test_tags_of_xml_stay(read: Read) -> None:
    text = '<?xml version="1.0"?>\n<a b="c">d</a>\n'
    assert read("a.xml", text).text == text


def test_text_is_read_in_its_encoding(read: Read) -> None:
    assert read("a.txt", "Grüße".encode("utf-16")).text == "Grüße"
    assert read("a.csv", "Grüße;1".encode("cp1252"), encoding="cp1252").text == "Grüße | 1"


def test_a_large_text_takes_no_more_than_its_bytes_and_its_characters(tmp_path: Path) -> None:
    file = tmp_path / "large.txt"
    megabytes = 20
    file.write_bytes(b"words in a line of text\n" * (megabytes * 1_000_000 // 24))
    tracemalloc.start()
    try:
        extract(file, ExtractionOptions())
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 3.2 * megabytes * 1_000_000
