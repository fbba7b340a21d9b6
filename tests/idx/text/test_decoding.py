"""Texts in the encodings of the world, and bytes that are no text."""

import gzip
import random
import re
import sys
import time
import timeit
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from idx.errors import SourceFileError
from idx.text.decoding import decode, detect_legacy, is_binary, without_tags

LANGUAGES = Path(__file__).parents[2] / "data" / "languages"
TYPOGRAPHY = str.maketrans(
    "\u2018\u2019\u201c\u201d\u201e\u2013\u0219\u021b", '\'\'"""-\u015f\u0163'
)
LEGACY = {
    "cp1252": ("de", "fr", "es", "it", "pt", "sv", "da", "no", "fi", "nl"),
    "iso-8859-1": ("de", "fr", "es", "pt", "sv"),
    "iso-8859-15": ("de", "fr", "fi"),
    "cp1250": ("pl", "cs", "hu", "ro", "sl"),
    "iso-8859-2": ("pl", "cs", "hu", "sl"),
    "cp1251": ("ru", "uk", "bg", "sr"),
    "koi8-r": ("ru",),
    "koi8-u": ("uk",),
    "cp866": ("ru",),
    "cp1253": ("el",),
    "iso-8859-7": ("el",),
    "cp1254": ("tr",),
    "cp1255": ("he",),
    "cp1256": ("ar", "fa"),
    "cp1257": ("lt", "lv"),
    "cp874": ("th",),
    "shift_jis": ("ja",),
    "euc-jp": ("ja",),
    "iso-2022-jp": ("ja",),
    "gb18030": ("zh",),
    "gbk": ("zh",),
    "euc-kr": ("ko",),
}
CASES = [(encoding, language) for encoding, languages in LEGACY.items() for language in languages]
CHINESE_OF_TAIWAN = (
    "人人生而自由、在尊嚴和權利上一律平等。他們賦有理性和良心、並應以兄弟關係的精神相對待。"
)


def text_in(language: str) -> str:
    return (LANGUAGES / f"{language}.txt").read_text("utf-8")


def encoded(language: str, encoding: str) -> tuple[str, bytes]:
    """A text with the typography that the encoding has, and its bytes."""
    text = text_in(language)
    try:
        return text, text.encode(encoding)
    except UnicodeEncodeError:
        text = text.translate(TYPOGRAPHY)
        text = text.encode(encoding, errors="ignore").decode(encoding)
        return text, text.encode(encoding)


@pytest.mark.parametrize(("encoding", "language"), CASES)
def test_a_text_in_a_legacy_encoding_is_read(encoding: str, language: str) -> None:
    text, data = encoded(language, encoding)
    assert decode(data, "a.txt") == text
    assert not is_binary(data)
    for line in text_in(language).translate(TYPOGRAPHY).splitlines():
        assert not is_binary(line.encode(encoding, errors="ignore"))


def test_most_single_lines_in_legacy_encodings_are_read() -> None:
    lines = right = 0
    for encoding, language in CASES:
        for line in encoded(language, encoding)[0].splitlines():
            data = line.encode(encoding)
            if not data.isascii() or encoding == "iso-2022-jp":
                lines += 1
                right += decode(data, "a.txt") == line
    assert lines > 300
    assert right / lines > 0.97


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Grüße aus Köln", "cp1252"),
        ("Crème brûlée", "cp1252"),
        ("Señor Muñoz", "cp1252"),
        (CHINESE_OF_TAIWAN, "big5"),
        # Characters of Windows that the standard lacks.
        (text_in("ja") + "①㈱髙", "cp932"),
        (text_in("ko") + "똠방각하", "cp949"),
    ],
)
def test_a_few_words_and_characters_of_windows_are_read(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding), "a.txt") == text


@pytest.mark.parametrize("language", ["en", "de", "ru", "zh", "ar"])
def test_utf_8_is_read(language: str) -> None:
    text = text_in(language)
    assert decode(text.encode(), "a.txt") == text
    assert not is_binary(text.encode())


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_byte_order_marks_are_honoured_and_left_out(encoding: str) -> None:
    data = "Häuser\r\n und 🦦 ".encode(encoding)
    assert decode(data, "a.txt") == "Häuser\r\n und 🦦 "
    assert not is_binary(data)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize(
    "text", ["en", "de", "ru", "el", "ar", "hi", "th", "zh", "ja", "ko", "hi\n"]
)
def test_wide_encodings_are_known_without_a_mark(encoding: str, text: str) -> None:
    content = text_in(text) * 10 if text.isalpha() else text
    data = content.encode(encoding)
    assert decode(data, "a.txt") == content
    assert not is_binary(data)
    assert not is_binary(data[:8192])


@pytest.mark.parametrize("language", ["de", "ru", "ja"])
def test_stray_bytes_in_utf_8_are_replaced(language: str) -> None:
    text = text_in(language)
    data = text.encode()
    middle = data.index(b"\n")
    assert decode(data[:middle] + b"\xe4\xff" + data[middle:], "a.txt") == text.replace(
        "\n", "\ufffd\ufffd\n", 1
    )


def test_a_character_cut_at_the_end_of_utf_8_is_replaced() -> None:
    assert decode("Grüße aus Köl€".encode()[:-1], "a.txt") == "Grüße aus Köl\ufffd"
    assert decode("Grüße, Jür🦦".encode()[:-1], "a.txt") == "Grüße, Jür\ufffd"


def test_replacement_characters_that_were_there_are_no_stray_bytes() -> None:
    assert decode("\ufffd\ufffdä".encode(), "a.txt") == "\ufffd\ufffdä"
    text = "Die H\ufffduser der Stra\ufffde geh\ufffdren den T\ufffdchtern in K\ufffdln. "
    assert decode(text.encode() + b"na\xefve", "a.txt") == f"{text}na\ufffdve"


@pytest.mark.parametrize(
    "text",
    [
        "8=FIX.4.2\x019=65\x0135=A\x0149=SERVER\x0156=CLIENT\x0110=62\x01\n" * 9,
        "12345\x01Jürgen Schmidt\x01Köln\x02Bonn\x031\n",
        "a\x1fb\x1ec\x1fd\x1e",
    ],
)
def test_characters_between_fields_make_no_text_binary(text: str) -> None:
    assert not is_binary(text.encode())
    assert decode(text.encode(), "a.log") == text
    assert is_binary(text.replace("\x01", "\x05").replace("\x1f", "\x05").encode())


def test_stray_bytes_behind_a_mark_of_utf_8_are_replaced() -> None:
    assert decode(b"\xef\xbb\xbfa\xe4b", "a.txt") == "a\ufffdb"


def test_one_broken_byte_does_not_hide_a_legacy_encoding() -> None:
    text, data = encoded("zh", "gb18030")
    broken = decode(data * 5 + b"\xff" + data, "a.txt")
    assert broken.count("\ufffd") == 1
    assert broken.startswith(text * 5)


@pytest.mark.parametrize("encoding", ["cp850", "cp437"])
@pytest.mark.parametrize("language", ["de", "fr"])
def test_a_text_of_dos_is_refused_rather_than_garbled(encoding: str, language: str) -> None:
    text, data = encoded(language, encoding)
    with pytest.raises(SourceFileError) as refused:
        decode(data, "old.txt")
    assert str(refused.value) == (
        "old.txt: is not text in any encoding that was tried; name its encoding with --encoding, "
        "for example --encoding cp1252"
    )
    assert decode(data, "old.txt", encoding) == text


def noise(size: int) -> bytes:
    return random.Random(7).randbytes(size)  # noqa: S311


BINARY: dict[str, Callable[[], bytes]] = {
    "noise": lambda: noise(10_000),
    "compressed": lambda: zlib.compress(noise(5000)),
    "gzip": lambda: gzip.compress(noise(5000)),
    "noise without nulls": lambda: noise(10_000).replace(b"\0", b""),
    "a program": lambda: Path(sys.executable).resolve().read_bytes()[:100_000],
    "small numbers": lambda: b"".join(n.to_bytes(4, "little") for n in range(500)),
    "sound": lambda: b"".join(
        (n * 37 % 2001 - 1000).to_bytes(2, "little", signed=True) for n in range(4000)
    ),
    "letters with a null": lambda: b"a text\0with a null in it",
    "names with nulls": lambda: "".join(
        f"./Документы/файл номер {n}.txt\0" for n in range(9)
    ).encode(),
    "nulls": lambda: bytes(100),
    "two bytes": lambda: b"\0\1",
}


@pytest.mark.parametrize("make", BINARY.values(), ids=BINARY)
def test_binary_data_is_refused(make: Callable[[], bytes]) -> None:
    data = make()
    assert is_binary(data)
    with pytest.raises(SourceFileError, match=r"^a\.bin: is binary, not text"):
        decode(data, "a.bin")


def test_the_place_of_a_null_character_is_said() -> None:
    with pytest.raises(
        SourceFileError, match=r"is binary, not text: a null character at offset 6$"
    ):
        decode(b"a text\0b", "a.txt")
    late = b"a" * 50_000 + b"\0"
    assert not is_binary(late)
    with pytest.raises(SourceFileError, match=r"a null character at offset 50000$"):
        decode(late, "a.txt")


@pytest.mark.parametrize(
    "data", [b"", b"a", b"\x1b[31mred\x1b[0m", b"b\bbo\bol\bld\bd", b"page\f\r\n\v\t"]
)
def test_terminal_output_is_text(data: bytes) -> None:
    assert not is_binary(data)
    assert decode(data, "a.txt") == data.decode()


def test_a_named_encoding_is_strict() -> None:
    assert decode("Häuser".encode("cp1252"), "a.txt", "cp1252") == "Häuser"
    with pytest.raises(SourceFileError, match="is not utf-8 text: byte 0xe4 at offset 1; name an"):
        decode(b"H\xe4user", "a.txt", "utf-8")
    with pytest.raises(SourceFileError, match="there is no encoding 'klingon'"):
        decode(b"a", "a.txt", "klingon")
    with pytest.raises(SourceFileError, match="there is no encoding ''"):
        decode(b"a", "a.txt", "")
    with pytest.raises(SourceFileError, match="cannot be read as 'undefined'"):
        decode(b"a", "a.txt", "undefined")
    with pytest.raises(SourceFileError, match="a null character at offset 1"):
        decode(b"a\0", "a.txt", "utf-8")


def test_detection_looks_only_at_a_sample() -> None:
    data = encoded("ru", "koi8-r")[1]
    seconds = []
    for size in (50, 10_000):
        repeated = data * size
        begin = time.process_time()
        for _ in range(3):
            assert detect_legacy(repeated) == "KOI8-U"
        seconds.append(time.process_time() - begin)
    # Windows counts processor time in steps of 16 ms.
    assert seconds[1] < max(5 * seconds[0], 0.05)


def test_one_word_in_a_long_text_is_enough_for_detection() -> None:
    text = "nothing but ASCII\n" * 100_000 + "Grüße\n" + "and again\n" * 1000
    assert decode(text.encode("cp1252"), "a.txt") == text
    line = re.sub("\n", " ", text)
    assert decode(line.encode("cp1252"), "a.txt") == line


@pytest.mark.soak
def test_utf_8_costs_little_more_than_its_decoding() -> None:
    data = text_in("de").encode() * 5000

    def seconds(function: Callable[[], object]) -> float:
        # Of this process alone, for other programs run meanwhile.
        return timeit.timeit(function, timer=time.process_time, number=5)

    def decoded() -> str:
        return without_tags(data.decode())

    # In turn, so that a slow moment strikes both.
    pairs = [(seconds(decoded), seconds(lambda: decode(data, "a.txt"))) for _ in range(20)]
    plain, with_detection = map(min, zip(*pairs, strict=True))
    assert with_detection < 2 * plain
