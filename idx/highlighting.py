"""A hit for people, with the words that matched in colour, or between stars in a pipe."""

import re
from typing import Final

from rich.text import Text

from idx.control_characters import visible, visible_line
from idx.place import cited
from idx.tables import console
from shared.results import MARKS, Hit

_MATCH: Final = re.compile("({}.*?{})".format(*map(re.escape, MARKS)), re.DOTALL)


def print_hit(rank: int, hit: Hit) -> None:
    """Print a hit's rank, score, title, id, place and passages on stdout."""
    out = console()
    heading = Text(f"{rank}. ")
    heading.append(visible_line(hit.title), style="bold")
    heading.append(f"  {hit.score:.3f}  {visible_line(hit.id)}", style="dim")
    out.print(heading)
    if place := cited(hit):
        out.print(Text(f"   {visible_line(place)}", style="dim"))
    for passage in hit.passages or []:
        out.print(highlighted(" ".join(visible(passage).split()), terminal=out.is_terminal))
    out.print()


def highlighted(passage: str, *, terminal: bool) -> Text:
    """A passage with its matches in colour on a terminal, else between ``**``."""
    text = Text("   ")
    for part in _MATCH.split(passage):
        if not _MATCH.fullmatch(part):
            text.append(part)
            continue
        match = part.removeprefix(MARKS[0]).removesuffix(MARKS[1])
        text.append(match if terminal else f"**{match}**", style="bold yellow")
    return text
