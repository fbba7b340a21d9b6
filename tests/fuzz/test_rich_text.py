"""Whatever stands behind the first word of a Rich Text file, it is read."""

from io import BytesIO
from pathlib import Path
from typing import Final

from hypothesis import strategies as st

from idx.extraction.formats import extract_from
from idx.extraction.types import Extracted, ExtractionOptions
from idx.office import rtf as words
from idx.text.cleaning import normalize
from tests.fuzz.running import MARKS, check_document, fuzz

pytestmark = MARKS

WORDS: Final = sorted(
    {
        *(*words.TEXTS, *words.HIDDEN, *words.SHOWN, *words.APART, *words.FORMS),
        *(*words.PROPERTIES, *words.TIMES, *words.TIME_PARTS, *words.CODECS_OF_WORDS),
        *("ansicpg", "fcharset", "f", "deff", "plain", "uc", "u", "v", "deleted", "bin"),
        *("intbl", "cell", "row", "pard", "rtf", "field", "fldrslt", "unknown"),
    }
)

NUMBERS: Final = (
    *("", "0", "1", "-1", "2", "437", "932", "1252", "1200", "65001", "37", "2025", "8364"),
    *("-10179", "-8704", "55357", "65535", "65536", "9999999999", "-9999999999", "00001"),
)

control_words = st.builds(
    lambda word, number, end: f"\\{word}{number}{end}".encode(),
    st.sampled_from(WORDS),
    st.sampled_from(NUMBERS) | st.sampled_from(sorted(map(str, words.CODECS_OF_CHARACTER_SETS))),
    st.sampled_from(["", " ", "  "]),
)

pieces = st.one_of(
    control_words,
    control_words,
    st.sampled_from([b"\\'e9", b"\\'", b"\\'zz", b"\\*", b"\\~", b"\\\\", b"\\{", b"\\", b"\\\n"]),
    st.sampled_from([b"{", b"}", b"\\bin3 {}}", b"\0", b"\r\n", b"\x81\xff", b"\xef\xbb\xbf"]),
    st.binary(max_size=6),
    st.text(max_size=6).map(lambda text: text.encode(errors="replace")),
)


def _group(parts: list[bytes]) -> bytes:
    return b"{" + b"".join(parts) + b"}"


groups = st.recursive(pieces, lambda inner: st.lists(inner, max_size=6).map(_group), max_leaves=25)

repeated = st.builds(
    lambda part, times: part * times, groups, st.sampled_from([1, 1, 1, 50, 3_000])
)

bodies = st.lists(groups | repeated, max_size=12).map(b"".join)

encodings = st.sampled_from(["utf-16", "utf-8-sig"])


def read(data: bytes) -> Extracted:
    return extract_from(BytesIO(data), Path("a.rtf"), ExtractionOptions())


def test_any_control_words_are_read() -> None:
    def is_read(body: bytes, end: bytes) -> None:
        extracted = read(b"{\\rtf1\\ansi" + body + end)
        check_document(extracted.text, extracted.title, extracted.metadata)
        assert extracted.text == normalize(extracted.text)

    fuzz(is_read, body=bodies, end=st.sampled_from([b"", b"}", b"}}}"]))


def test_any_bytes_behind_a_byte_order_mark_are_read() -> None:
    def is_read(body: bytes, encoding: str) -> None:
        data = ("{\\rtf1 " + body.decode("latin-1")).encode(encoding)
        extracted = read(data)
        check_document(extracted.text, extracted.title, extracted.metadata)

    fuzz(is_read, body=bodies, encoding=encodings)


def _written(text: str) -> bytes:
    """A text as Word writes it."""
    units = text.encode("utf-16-le")
    numbers = (
        int.from_bytes(units[place : place + 2], "little", signed=True)
        for place in range(0, len(units), 2)
    )
    return b"{\\rtf1\\uc1 " + b"".join(b"\\u%d?" % number for number in numbers) + b"}"


def test_text_is_read_as_it_was_written() -> None:
    def is_the_same(text: str) -> None:
        assert read(_written(text)).text == normalize(text)

    fuzz(is_the_same, text=st.text(max_size=60))
