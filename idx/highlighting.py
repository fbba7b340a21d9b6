"""A hit on a terminal, with the words that matched in colour."""

from rich.text import Text

from idx.control_characters import visible
from idx.tables import console
from shared.results import PASSAGE_MARK, Hit


def print_hit(rank: int, hit: Hit) -> None:
    """Print a hit's rank, score, title, id and passages on stdout."""
    out = console()
    heading = Text(f"{rank}. ")
    heading.append(visible(hit.title), style="bold")
    heading.append(f"  {hit.score:.3f}  {visible(hit.id)}", style="dim")
    out.print(heading)
    for passage in hit.passages or []:
        out.print(highlighted(" ".join(visible(passage).split()), terminal=out.is_terminal))
    out.print()


def highlighted(passage: str, *, terminal: bool) -> Text:
    """A passage with its marked words in colour; in a pipe the marks stay."""
    text = Text("   ")
    if not terminal:
        return text.append(passage)
    for position, part in enumerate(passage.split(PASSAGE_MARK)):
        text.append(part, style="bold yellow" if position % 2 else "")
    return text
