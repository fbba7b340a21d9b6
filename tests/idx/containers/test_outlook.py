"""Messages of Outlook: headers, text and attachments."""

import pytest

from idx.errors import SourceFileError
from tests.idx.conftest import Read
from tests.idx.containers.compound_file import outlook_message

HEADERS = (
    "From: Ana Ruíz <ana@a.example>\r\nTo: Bo <bo@a.example>\r\n"
    "Date: Sat, 01 Mar 2025 11:00:00 +0100\r\n"
    "Message-ID: <2@a.example>\r\nReferences: <1@a.example>\r\n\r\n"
)
TEXTS = {0x0037: "Gärten", 0x1000: "We take thirty.\r\n> Our offer\r\n", 0x007D: HEADERS}


def test_a_message_is_read_like_an_email(read: Read) -> None:
    data = outlook_message(TEXTS, {"offer.txt": b"Forty pumps"}, {"Bo": "bo@a.example"})
    extracted = read("a.msg", data)
    assert extracted.text == (
        "From: Ana Ruíz <ana@a.example>\nTo: Bo <bo@a.example>\n"
        "Date: Sat, 01 Mar 2025 11:00:00 +0100\nSubject: Gärten\n\nWe take thirty.\n\n"
        "Attachments: offer.txt\n\nQuoted text\nOur offer"
    )
    assert extracted.title == "Gärten"
    assert extracted.metadata == {
        "author": "Ana Ruíz <ana@a.example>",
        "message_id": "2@a.example",
        "thread": "1@a.example",
        "recipients": ["bo@a.example"],
    }
    assert [(each.name, each.read()) for each in extracted.members] == [
        ("offer.txt", b"Forty pumps")
    ]


def test_a_draft_has_no_headers_of_its_way(read: Read) -> None:
    data = outlook_message({0x0037: "Draft", 0x1000: "text"}, {}, {"Bo": "bo@a.example"})
    assert read("a.msg", data).text == "To: Bo <bo@a.example>\nSubject: Draft\n\ntext"


@pytest.mark.parametrize("share", [0.4, 0.6, 0.9])
def test_a_truncated_message_is_damaged(read: Read, share: float) -> None:
    data = outlook_message(TEXTS, {"offer.txt": b"Forty pumps" * 200}, {})
    with pytest.raises(SourceFileError, match=r"is a damaged message of Outlook|is binary"):
        read("a.msg", data[: int(len(data) * share)])
