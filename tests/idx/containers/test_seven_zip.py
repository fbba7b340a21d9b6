"""7z archives: each method, and what is wrong with them."""

import lzma
import random
import struct
import sys
import zlib
from pathlib import Path

import pytest

from idx.errors import SourceFileError
from idx.extraction.pool import ExtractionPool, Limits
from idx.extraction.types import Budget, Extracted, ExtractionOptions, Member, ReadFile, Unreadable
from idx.extraction.worker import MemberReader
from tests.idx.conftest import extract
from tests.idx.extraction.test_pool import File
from tests.programs import run

ARCHIVES = Path(__file__).parents[2] / "data" / "seven-zip"
START = 32

LIMITS = Limits(seconds=60, memory_bytes=1_000_000_000)

TEXTS = {
    "empty.txt": "",
    "lease/rent.txt": "The rent is due on the third. " * 3,
    "keys.csv": "key | place\nkey: boathouse | place: nail\nkey: shed | place: pot\n",
    "größe.txt": "Der Brunnen ist tief.",
}


def read(file: Path) -> tuple[Extracted, dict[str, str]]:
    """The archive, and the texts of its files by their paths, or why they are not read."""
    options = ExtractionOptions()
    budget = Budget(file.stat().st_size, seconds=60)
    reader = MemberReader(options, budget)
    extracted = reader.read(extract(file, options), "")
    return extracted, texts_of(reader.found)


def texts_of(members: list[Member]) -> dict[str, str]:
    return {
        each.path: each.result.extracted.text
        if isinstance(each.result, ReadFile)
        else each.result.reason
        for each in members
    }


def read_by_workers(*files: Path) -> dict[str, list[str]]:
    """What processes under limits say of each file: why it is not read, its warnings, its texts."""
    with ExtractionPool(1, LIMITS, ExtractionOptions()) as pool:
        return {file.path.name: said(result) for file, result in pool.read(map(File, files))}


def said(result: ReadFile | Unreadable) -> list[str]:
    if isinstance(result, Unreadable):
        return [result.reason]
    return [*result.extracted.warnings, *texts_of([*result.members]).values()]


@pytest.mark.parametrize(
    "method",
    [
        *("lzma2", "lzma", "bzip2", "deflate", "copy", "x86", "delta", "ppmd"),
        *("zstandard", "brotli", "deflate64", "lzma-x86"),
    ],
)
def test_files_are_read_whatever_the_method(method: str) -> None:
    extracted, texts = read(ARCHIVES / f"{method}.7z")
    assert extracted.warnings == ()
    assert extracted.text.startswith("5 files\n\n")
    assert "lease/rent.txt" in extracted.text.splitlines()
    assert texts == TEXTS


def test_protected_files_are_named() -> None:
    extracted, texts = read(ARCHIVES / "protected.7z")
    protected = dict.fromkeys(TEXTS, "protected by a password")
    assert texts == protected | {"empty.txt": ""}
    assert (extracted.warnings, "keys.csv" in extracted.text) == ((), True)


@pytest.mark.parametrize(("name", "why"), [("bcj2", "BCJ2"), ("delta-deflate", "Invalid")])
def test_files_that_are_packed_in_another_way_are_named_and_the_others_read(
    name: str, why: str
) -> None:
    extracted, texts = read(ARCHIVES / f"{name}.7z")
    assert extracted.warnings == ()
    assert texts["keys.csv"] == TEXTS["keys.csv"]
    assert f"is packed with a method that is not read ({why}" in texts["program.exe"]


def test_an_archive_with_encrypted_names_is_not_read() -> None:
    with pytest.raises(SourceFileError, match="protected by a password"):
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


def test_names_that_lead_outside_are_left_out_and_two_of_one_name_are_read(tmp_path: Path) -> None:
    packed, header = plain(ARCHIVES / "deflate64.7z")
    for old, new in (("keys.csv", "../y.csv"), ("größe.txt", "empty.txt")):
        header = header.replace(old.encode("utf-16-le"), new.encode("utf-16-le"))
    (tmp_path / "a.7z").write_bytes(archive(packed, header))
    extracted, texts = read(tmp_path / "a.7z")
    (warning,) = extracted.warnings
    assert "leads outside: '../y.csv'" in warning
    assert texts == {
        "empty.txt": "",
        "empty (2).txt": TEXTS["größe.txt"],
        "lease/rent.txt": TEXTS["lease/rent.txt"],
    }


def test_files_after_one_that_is_packed_into_several_streams_are_read(tmp_path: Path) -> None:
    listed = (
        b"\x01\x04\x06\0\x05\x09\1\1\1\1\x08\0\x07\x0b\x02\0"
        # BCJ2 of four streams, and a copy.
        b"\x01\x14\x03\x03\x01\x1b\x04\x01\0\1\2\3\x01\x01\0\x0c\x09\x08\0"
        b"\x08\0\0\x05\x02\x11\x09\0a\0\0\0b\0\0\0\0\0"
    )
    (tmp_path / "a.7z").write_bytes(archive(b"1234The text", listed))
    _, texts = read(tmp_path / "a.7z")
    assert texts["b"] == "The text"
    assert "(BCJ2" in texts["a"]


def test_a_file_with_a_wrong_checksum_is_damaged(tmp_path: Path) -> None:
    packed, header = plain(ARCHIVES / "copy.7z")
    (tmp_path / "a.7z").write_bytes(archive(b"Q" + packed[1:], header))
    _, texts = read(tmp_path / "a.7z")
    assert texts.pop("lease/rent.txt").endswith("its checksum is wrong")
    assert texts == {name: text for name, text in TEXTS.items() if name != "lease/rent.txt"}


def numbers(*values: int) -> bytes:
    """Numbers as the format writes large ones."""
    return b"".join(b"\xff" + struct.pack("<Q", value) for value in values)


def coder(identity: bytes, properties: bytes) -> bytes:
    """A method of compression, as the list of files has it."""
    flags = bytes([0x20 | len(identity)])
    return b"\x01" + flags + identity + bytes([len(properties)]) + properties


def streams(packed: int, packing: bytes, unpacked: int) -> bytes:
    """A stream of this length that is unpacked by a method, as the list of files has it."""
    return (
        (b"\x06\0\x01\x09" + numbers(packed) + b"\0\x07\x0b\x01\0" + packing + b"\x0c")
        + numbers(unpacked)
        + b"\0"
    )


ONE_FILE = b"\x08\0\0\x05\x01\x11\x05\0a\0\0\0\0\0"
"""The end of a list of files: one stream, of a file `a`."""

LZMA2 = coder(b"\x21", b"\x18")
ZSTANDARD = coder(b"\x04\xf7\x11\x01", b"\x01\x05\x03\0\0")


def zstandard_zeros(blocks: int) -> bytes:
    """So many blocks of 128 KB of zeros, each packed in four bytes."""
    block, last = ((1 << 17 << 3 | 1 << 1 | end).to_bytes(3, "little") + b"\0" for end in (0, 1))
    return b"\x28\xb5\x2f\xfd\0\x38" + block * (blocks - 1) + last


def test_what_unpacks_to_much_is_not_in_memory_at_once(tmp_path: Path) -> None:
    blocks = 30_000
    packed = zstandard_zeros(blocks)
    listed = b"\x01\x04" + streams(len(packed), ZSTANDARD, blocks << 17) + ONE_FILE
    (tmp_path / "a.7z").write_bytes(archive(packed, listed))
    found = read_by_workers(tmp_path / "a.7z")["a.7z"]
    assert "unpacks to more than 100 MB" in found[0]
    # The list of files itself.
    listed = b"\x17" + streams(len(packed), ZSTANDARD, blocks << 17) + b"\0"
    (tmp_path / "b.7z").write_bytes(archive(packed, listed))
    assert "decoded header size" in read_by_workers(tmp_path / "b.7z")["b.7z"][0]


def test_files_that_are_compressed_together_are_unpacked_once() -> None:
    # Each is a part of 90 MB, which may not be unpacked twice.
    extracted, texts = read(ARCHIVES / "solid.7z")
    assert extracted.warnings == ()
    assert (len(texts), texts["45.txt"]) == (46, "The last one")


def test_a_stream_that_is_shorter_than_its_files_ends(tmp_path: Path) -> None:
    text = random.Random(7).randbytes(9_000)  # noqa: S311 - no secret
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 24}]
    packed = lzma.compress(text, lzma.FORMAT_RAW, filters=filters)[:-900]
    listed = b"\x01\x04" + streams(len(packed), LZMA2, len(text)) + ONE_FILE
    (tmp_path / "a.7z").write_bytes(archive(packed, listed))
    _, texts = read(tmp_path / "a.7z")
    assert "cut off" in texts["a"]
    # The list of files itself.
    packed = zlib.compress(bytes(90))[2:-14]
    deflate = b"\x01\x03\x04\x01\x08"
    (tmp_path / "b.7z").write_bytes(
        archive(packed, b"\x17" + streams(len(packed), deflate, 90) + b"\0")
    )
    with pytest.raises(SourceFileError, match="truncated"):
        read(tmp_path / "b.7z")


def test_a_list_of_files_that_promises_too_much_costs_only_its_archive(tmp_path: Path) -> None:
    headers = [
        b"\x01\x05" + numbers(2**40),
        b"\x01\x05" + numbers(2**63 - 1) + b"\0",
        b"\x01\x04\x06" + numbers(0, 2**50),
        b"\x01\x04\x07\x0b" + numbers(2**50),
        b"\x01\x04\x07\x0b\x01\0" + numbers(2**50),
        # A stream of 2 EB, packed in no bytes.
        b"\x17" + streams(0, b"\x01\x01\0", 2**61) + b"\0",
        # LZMA2 with a dictionary of 4 GB for a text of 3 GB.
        b"\x01\x04" + streams(4, coder(b"\x21", b"\x28"), 3 * 2**30) + ONE_FILE,
        # A stream of files without end.
        b"\x01\x04" + streams(4, LZMA2, 9) + b"\x08\x0d" + numbers(2**60) + b"\0\0\x05",
    ]
    files = [tmp_path / f"{number}.7z" for number in range(len(headers))]
    for file, header in zip(files, headers, strict=True):
        file.write_bytes(archive(b"\0\0\0\0", header))
    good = tmp_path / "good.txt"
    good.write_text("good")
    found = read_by_workers(*files, good)
    assert found.pop("good.txt") == []
    assert {name for name, reasons in found.items() if not reasons} == set()
    assert not any(map(is_unforeseen, found.values())), found


def is_unforeseen(reasons: list[str]) -> bool:
    """Whether an error has no words of its own, or something hung or crashed."""
    return any(
        word in each for each in reasons for word in ("report it", "was not read within", "crashed")
    )


def test_no_damage_has_an_error_of_its_own(tmp_path: Path) -> None:
    chance = random.Random(7)  # noqa: S311 - no secret
    files = []
    for name in ("lzma2", "copy", "x86", "nested", "ppmd", "zstandard", "brotli", "deflate"):
        packed, header = plain(ARCHIVES / f"{name}.7z")
        for number in range(40):
            parts = [bytearray(packed), bytearray(header)]
            for _ in range(chance.randint(1, 3)):
                part = chance.choice(parts)
                part[chance.randrange(len(part))] = chance.randrange(256)
            files.append(tmp_path / f"{name}-{number}.7z")
            files[-1].write_bytes(archive(*map(bytes, parts)))
    whole = (ARCHIVES / "lzma2.7z").read_bytes()
    for length in range(0, len(whole), 7):
        files.append(tmp_path / f"{length}.7z")
        files[-1].write_bytes(whole[:length])
    found = read_by_workers(*files)
    assert len(found) == len(files)
    assert {name: each for name, each in found.items() if is_unforeseen(each)} == {}


def test_py7zr_is_loaded_by_no_other_archive(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; import idx.extraction.worker\n"
        "from idx.extraction.formats import extract_from\n"
        "from idx.extraction.types import ExtractionOptions\n"
        "extract_from(open(sys.argv[1], 'rb'), Path(sys.argv[1]), ExtractionOptions())\n"
        "print('py7zr' in sys.modules)"
    )
    (tmp_path / "a.zip").write_bytes(b"PK\5\6" + bytes(18))
    loaded = [
        run(sys.executable, "-c", script, file).stdout
        for file in (tmp_path / "a.zip", ARCHIVES / "copy.7z")
    ]
    assert loaded == ["False\n", "True\n"]
