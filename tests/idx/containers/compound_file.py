"""Compound files as Outlook writes them, for tests: streams in folders ([MS-CFB], version 3)."""

import struct
from collections.abc import Mapping, Sequence
from typing import Final, Union

Tree = Mapping[str, Union[bytes, "Tree"]]  # streams and folders by name

_SECTOR: Final = 512
_MINI: Final = 64
_END: Final = 0xFFFFFFFE
_NONE: Final = 0xFFFFFFFF
_FAT: Final = 0xFFFFFFFD


def compound(tree: Tree) -> bytes:
    """A compound file; each stream is shorter than 4,096 bytes."""
    entries: list[list[int | bytes | str]] = [["Root Entry", 5, _NONE, _NONE, _END, 0]]
    mini, mini_fat = b"", list[int]()

    def add(children: Tree) -> int:
        """Add the entries of a folder, each to the right of the one before; the first of them."""
        nonlocal mini
        first = before = _NONE
        for name in sorted(children, key=lambda name: (len(name), name.upper())):
            content = children[name]
            here = len(entries)
            if before == _NONE:
                first = here
            else:
                entries[before][2] = here
            before = here
            if isinstance(content, bytes):
                start, count = len(mini_fat), -(-len(content) // _MINI)
                mini_fat.extend([*range(start + 1, start + count), _END] if count else [])
                mini += content.ljust(count * _MINI, b"\0")
                place = start if count else _END
                entries.append([name, 2, _NONE, _NONE, place, len(content)])
            else:
                entries.append([name, 1, _NONE, _NONE, 0, 0])
                entries[here][3] = add(content)
        return first

    entries[0][3] = add(tree)
    sectors = [b""]

    def chain(data: bytes) -> int:
        """Add sectors; the number of the first one."""
        start = len(sectors)
        for at in range(0, max(len(data), 1), _SECTOR):
            sectors.append(data[at : at + _SECTOR].ljust(_SECTOR, b"\0"))
            fat.append(len(sectors))
        fat[-1] = _END
        return start

    fat = [_FAT]
    entries[0][4:] = [chain(mini), len(mini)]
    mini_start = chain(b"".join(struct.pack("<I", number) for number in mini_fat))
    directory = chain(b"".join(map(_entry, entries)))
    sectors[0] = b"".join(struct.pack("<I", number) for number in fat).ljust(_SECTOR, b"\xff")
    header = struct.pack(
        "<8s16sHHHHH6xIIIIIIIIII",
        *(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"", 0x3E, 3, 0xFFFE, 9, 6),
        *(0, 1, directory, 0, 4096, mini_start, -(-len(mini_fat) * 4 // _SECTOR), _END, 0, 0),
    )
    return header.ljust(_SECTOR, b"\xff") + b"".join(sectors)


def _entry(entry: list[int | bytes | str]) -> bytes:
    name, kind, right, child, start, size = entry
    assert isinstance(name, str)
    text = name.encode("utf-16-le")
    return struct.pack(
        "<64sHBBIII36xIQ", text, len(text) + 2, kind, 1, _NONE, right, child, start, size
    )


def outlook_message(
    texts: Mapping[int, str],
    attachments: Mapping[str, bytes],
    recipients: Mapping[str, str],
    numbers: Mapping[int, int] | None = None,
    others: Mapping[tuple[int, int], bytes] | None = None,
    messages: Sequence[Tree] = (),
    shown: Sequence[str] = (),
    hidden: Sequence[str] = (),
) -> bytes:
    """A message of Outlook; the folders of messages that are attached come after other files.

    Some of the attachments are shown in its text, some are hidden.
    """
    tree: dict[str, bytes | Tree] = dict(_properties(texts, 32, {}, numbers or {}, others or {}))
    for number, (name, data) in enumerate(attachments.items()):
        told = {0x3707: name, 0x3712: f"<{name}>"} if name in shown else {0x3707: name}
        tree[f"__attach_version1.0_#{number:08X}"] = _properties(
            told, 8, {0x3701: data}, {0x7FFE: int(name in hidden)}
        )
    for number, (name, address) in enumerate(recipients.items()):
        tree[f"__recip_version1.0_#{number:08X}"] = _properties(
            {0x3001: name, 0x39FE: address}, 8, {}
        )
    for number, attached in enumerate(messages, start=len(attachments)):
        listed = _properties({0x3001: "Their subject"}, 8, {})
        tree[f"__attach_version1.0_#{number:08X}"] = {**listed, "__substg1.0_3701000D": attached}
    return compound(tree)


def attached_message(texts: Mapping[int, str]) -> Tree:
    """A message of Outlook as it lies within another one."""
    return _properties(texts, 24, {})


def _properties(
    texts: Mapping[int, str],
    header: int,
    binary: Mapping[int, bytes],
    numbers: Mapping[int, int] | None = None,
    others: Mapping[tuple[int, int], bytes] | None = None,
) -> dict[str, bytes]:
    values = {(number, 0x1F): text.encode("utf-16-le") for number, text in texts.items()}
    values |= {(number, 0x102): data for number, data in binary.items()}
    values |= others or {}
    listed = bytes(header) + b"".join(
        struct.pack("<HHIII", kind, number, 6, len(value) + 2 * (kind == 0x1F), 0)
        for (number, kind), value in values.items()
    )
    listed += b"".join(
        struct.pack("<HHIQ", 3, number, 6, value) for number, value in (numbers or {}).items()
    )
    streams = {
        f"__substg1.0_{number:04X}{kind:04X}": value for (number, kind), value in values.items()
    }
    return {"__properties_version1.0": listed, **streams}
