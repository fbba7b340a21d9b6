"""Extraction of messages of Outlook (.msg), like e-mails."""

import io
import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

from idx.extraction.containers.mail import composed, thread_metadata
from idx.extraction.markup.html import read_hypertext
from idx.extraction.text.cleaning import preformatted
from idx.extraction.text.properties import one_line, properties
from idx.extraction.types import Embedded, Extracted, Source

if TYPE_CHECKING:
    from oxmsg import Message
    from oxmsg.attachment import Attachment

_DAMAGE: Final = (AssertionError, AttributeError, OSError, TypeError)
"""Errors that the library raises on damaged files, besides those that stand for damage anyway."""


def extract_outlook(source: Source) -> Extracted:
    """Extract the main headers of a message and its text, with its attachments as members.

    Raises:
        ValueError: it is damaged.
    """
    from oxmsg import Message

    try:
        return _extracted(Message.load(io.BytesIO(source.data)), source)
    except _DAMAGE as error:
        raise ValueError(str(error) or type(error).__name__) from error


def _extracted(message: "Message", source: Source) -> Extracted:
    said = {name.lower(): value for name, value in message.message_headers.items()}
    recipients = [
        f"{each.name} <{each.email_address}>" if each.name != each.email_address else each.name
        for each in message.recipients
    ]
    headers = {
        "From": message.sender or said.get("from"),
        "To": said.get("to") or ", ".join(recipients),
        "Cc": said.get("cc"),
        "Date": message.sent_date.isoformat() if message.sent_date else said.get("date"),
        "Subject": message.subject,
    }
    attachments = list(message.attachments)
    hidden: list[str] = []
    names = [_name(each, number) for number, each in enumerate(attachments, start=1)]
    text, headings = composed(
        [f"{name}: {one_line(value)}" for name, value in headers.items() if value],
        _body(message, hidden),
        names,
    )
    # An attached message is stored as a folder, which the library does not read.
    unread = sum(each.file_bytes is None for each in attachments)
    return Extracted(
        text=text,
        media_type=source.media_type,
        headings=headings,
        hidden=hidden,
        title=one_line(message.subject),
        metadata=properties(
            author=message.sender, created=message.sent_date, modified=message.sent_date
        )
        | thread_metadata(said, ", ".join((*recipients, said.get("to", ""), said.get("cc", "")))),
        warnings=(f"{unread} attached messages or objects of Outlook are not read",)
        if unread
        else (),
        members=_members(attachments, names),
    )


def _body(message: "Message", hidden: list[str]) -> str:
    plain = message.body
    if plain and plain.strip():
        return preformatted(plain.replace("\r\n", "\n"))
    html = message.html_body
    page = read_hypertext(html or "")
    hidden += page.unseen
    return page.text


def _members(attachments: list["Attachment"], names: list[str]) -> Iterator[Embedded]:
    for each, name in zip(attachments, names, strict=True):
        data = each.file_bytes
        if data is not None:
            modified = each.last_modified
            yield Embedded(
                name=name,
                read=partial(bytes, data),
                size=len(data),
                modified_ns=int(modified.timestamp()) * 1_000_000_000 if modified else 0,
            )


def _name(attachment: "Attachment", number: int) -> str:
    plain = re.sub(r"[/\\\x00-\x1f\x7f]", "_", attachment.file_name or "").strip().lstrip(".")
    return plain or f"attachment {number}"
