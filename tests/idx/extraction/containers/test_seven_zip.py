"""7z archives: each method, and what is wrong with them."""

import random
import struct
import zlib
from pathlib import Path

import pytest

from idx.errors import SourceFileError, UnsupportedFileError
from idx.extraction.containers.budget import Budget
from idx.extraction.containers.members import MemberReader
from idx.extraction.formats import extract
from idx.extraction.types import Extracted, ExtractionOptions, ReadFile

ARCHIVES = Path(__file__).parents[3] / "data" / "seven-zip"
START = 32


def read(file: Path) -> tuple[Extracted, dict[str, str]]:
    """The archive, and the texts of its files by their paths, or why they are not read."""
    options = ExtractionOptions()
    budget = Budget(file.stat().st_size, seconds=60)
    reader = MemberReader(options, budget)
    extracted = reader.read(extract(file, options), "")
    texts = {
        each.path: each.result.extracted.text
        if isinstance(each.result, ReadFile)
        else each.result.reason
        for each in reader.found
    }
    return extracted, texts


@pytest.mark.parametrize("method", ["lzma2", "lzma", "bzip2", "deflate", "copy", "x86", "delta"])
def test_files_are_read_whatever_the_method(method: str) -> None:
    extracted, texts = read(ARCHIVES / f"{method}.7z")
    assert extracted.warnings == ()
    assert extracted.text.startswith("5 files\n\nlease/rent.txt\n")
    assert texts == {
        "empty.txt": "",
        "lease/rent.txt": "The rent is due on the third. " * 3,
        "keys.csv": "key | place\nkey: boathouse | place: nail\nkey: shed | place: pot\n",
        "größe.txt": "Der Brunnen ist tief.",
    }


@pytest.mark.parametrize(
    ("name", "reason"),
    [("ppmd", "with a method that is not read: PPMd"), ("protected", "protected by a password")],
)
def test_what_cannot_be_unpacked_is_named(name: str, reason: str) -> None:
    extracted, texts = read(ARCHIVES / f"{name}.7z")
    assert texts == {"empty.txt": ""}
    assert "keys.csv" in extracted.text
    (warning,) = extracted.warnings
    assert reason in warning


def test_an_archive_with_encrypted_names_is_not_read() -> None:
    with pytest.raises(UnsupportedFileError, match="protected by a password"):
        read(ARCHIVES / "hidden.7z")


def test_bombs_links_and_archives_within_archives_are_bounded() -> None:
    extracted, texts = read(ARCHIVES / "bomb.7z")
    assert texts["a.txt"] == "A small text"
    assert texts["zeros.txt"].startswith("has 150.0 MB, more than the 50 MB")
    assert extracted.warnings == (
        "is read only in part: it unpacks to more than 100 MB, too much for its size",
    )
    assert read(ARCHIVES / "link.7z")[1] == {"real.txt": "A real file"}
    _, texts = read(ARCHIVES / "nested.7z")
    assert "inner3.7z!/inner2.7z!/inner1.7z" in texts
    assert not any("level0" in path for path in texts)


def damage(file: Path) -> str | None:
    """What is said of an archive, or of the files in it; None if all of it is read."""
    try:
        extracted, texts = read(file)
    except SourceFileError as error:
        return error.reason
    too_large = [text for text in texts.values() if "more than the 50 MB" in text]
    return next(iter([*extracted.warnings, *too_large]), None)


def plain(file: Path) -> tuple[bytes, bytes]:
    """What an archive has packed, and its list of files, which is not packed itself."""
    data = file.read_bytes()
    offset, size = struct.unpack_from("<QQ", data, 12)
    return data[START : START + offset], data[START + offset : START + offset + size]


def archive(packed: bytes, header: bytes) -> bytes:
    """An archive whose checksums are right, whatever its list of files is."""
    start = struct.pack("<QQI", len(packed), len(header), zlib.crc32(header))
    begin = b"7z\xbc\xaf\x27\x1c\0\4" + struct.pack("<I", zlib.crc32(start)) + start
    return begin + packed + header


def numbers(*values: int) -> bytes:
    """Numbers as the format writes large ones."""
    return b"".join(b"\xff" + struct.pack("<Q", value) for value in values)


@pytest.mark.parametrize(
    "header",
    [
        b"\x01\x05" + numbers(2**40),
        b"\x01\x05" + numbers(2**63 - 1) + b"\0",
        b"\x01\x04\x06" + numbers(0, 2**50),
        b"\x01\x04\x07\x0b" + numbers(2**50),
        b"\x01\x04\x07\x0b\x01\0" + numbers(2**50),
        # A folder of 2 EB, packed in no bytes.
        b"\x17\x06\0\x01\x09\0\0\x07\x0b\x01\0\x01\x01\0\x0c" + numbers(2**61) + b"\0\0",
        # LZMA2 with a dictionary of 4 GB for a text of 3 GB.
        b"\x01\x04\x06\0\x01\x09\x04\0\x07\x0b\x01\0\x01\x21\x21\x01\x28\x0c"
        + numbers(3 * 2**30)
        + b"\0\x08\0\0\x05\x01\x11\x05\0a\0\0\0\0",
    ],
)
def test_a_list_of_files_that_promises_too_much_is_damage(tmp_path: Path, header: bytes) -> None:
    (tmp_path / "a.7z").write_bytes(archive(b"\0\0\0\0", header))
    assert damage(tmp_path / "a.7z")


def test_no_damage_has_an_error_of_its_own(tmp_path: Path) -> None:
    chance = random.Random(7)  # noqa: S311 - no secret
    file = tmp_path / "a.7z"
    for name in ("lzma2", "copy", "x86", "nested"):
        packed, header = plain(ARCHIVES / f"{name}.7z")
        for _ in range(40):
            parts = [bytearray(packed), bytearray(header)]
            for _ in range(chance.randint(1, 3)):
                part = chance.choice(parts)
                part[chance.randrange(len(part))] = chance.randrange(256)
            file.write_bytes(archive(*map(bytes, parts)))
            damage(file)
    whole = (ARCHIVES / "lzma2.7z").read_bytes()
    for length in range(0, len(whole), 7):
        file.write_bytes(whole[:length])
        damage(file)
