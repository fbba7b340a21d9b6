"""Quotations in replies, set apart from what a message says itself.

Most replies repeat the whole message that they answer. A search would then find the question in
each reply, and often before the answer.
"""

import re
from typing import Final

_QUOTED_LINE: Final = re.compile(r"[ \t\ufdd0\ufdd1]*>(.*)", re.DOTALL)
_BLANKS: Final = " \t\ufdd0\ufdd1"
"""Blanks, and the characters that stand for them in preformatted text."""

_INTRODUCTION: Final = re.compile(
    r"(?:On|Am|Le|El|Il|Em|Op|Den|W dniu)\b.{5,200}"
    r"(?:wrote|schrieb|écrit|escribió|scritto|escreveu|schreef|skrev|napisał).{0,80}:",
    re.IGNORECASE | re.DOTALL,
)
_SEPARATOR: Final = re.compile(
    r"-{2,}\s*(?:Original Message|Ursprüngliche Nachricht|Message d.origine|Mensaje original|"
    r"Messaggio originale|Oorspronkelijk bericht)\s*-{2,}|_{20,}",
    re.IGNORECASE,
)
_HEADER: Final = re.compile(
    r"\*?(?:From|Von|De|Da|Van|Sent|Gesendet|Envoyé|Enviado|Date|Datum|To|An|À|Para|Subject|Betreff|"
    r"Objet|Asunto)\s?:.*",
    re.IGNORECASE,
)

_MIN_HEADERS: Final = 3
"""Minimum number of header lines after a separator, by which a copied message is recognized."""


def quoted_apart(text: str) -> tuple[str, str]:
    """Divide the text of a message into its own and what it quotes.

    Quotations of quotations are left out: they are in the messages in between. A forwarded message
    is not a quotation, since the text is often nothing but it.

    Args:
        text: the text, not yet normalized.

    Returns:
        The own text, and the quoted lines without marks; all is own if there is nothing else.
    """
    own: list[str] = []
    quoted: list[str] = []
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if _begins_copy(lines, number):
            quoted += [each for each in lines[number:] if not _SEPARATOR.fullmatch(_plain(each))]
            break
        match = _QUOTED_LINE.fullmatch(line)
        if match is None:
            own.append(line)
            continue
        inner = match[1].lstrip(_BLANKS)
        if not quoted or own[-1:] != [""]:
            _drop_introduction(own, quoted)
        if not inner.startswith(">"):
            quoted.append(inner)
    if not any(_plain(line) for line in own):
        return text, ""
    return "\n".join(own), "\n".join(quoted).strip("\n")


def _plain(line: str) -> str:
    return " ".join(line.translate({0xFDD0: " ", 0xFDD1: " "}).split())


def _drop_introduction(own: list[str], quoted: list[str]) -> None:
    """Move the line that says who wrote the quoted text to it; it may be broken in two."""
    while own and not _plain(own[-1]):
        own.pop()
    for count in (1, 2):
        said = " ".join(map(_plain, own[-count:]))
        if len(own) >= count and _INTRODUCTION.fullmatch(said):
            del own[-count:]
            quoted.append(said)
            return
    own.append("")


def _begins_copy(lines: list[str], number: int) -> bool:
    """Check whether a separator and the headers of a copied message begin at a line."""
    if not _SEPARATOR.fullmatch(_plain(lines[number])):
        return False
    after = [plain for line in lines[number + 1 : number + 12] if (plain := _plain(line))]
    return sum(_HEADER.fullmatch(line) is not None for line in after) >= _MIN_HEADERS
