"""Command `idx ask`: an answer, with its sources and what does not hold in it."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.live import Live
from rich.text import Text

from idx.cli.options import (
    DEFAULT_INDEX_PATH,
    AnswerOptions,
    CollectionName,
    Filters,
    IndexPath,
    Json,
    RewritingOptions,
    takes,
)
from idx.models import answer_model_of, rewriting_of, run
from idx.output.printing import console, line_for_stdout, print_json, prose_for_stdout, say, width
from idx.output.results import cited, in_words, print_whole
from shared.answers.citations import CITED, cited_numbers
from shared.answers.prompt import DEFAULT_TOP_K, MAX_TOP_K
from shared.model.answers import (
    Answer,
    AnswerPart,
    CheckedCitation,
    CitationProblem,
    Refusal,
    StatementState,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from shared.model.answers import AnswerEvent

_REASONS: Final[dict[Refusal, str]] = {
    "no_hits": "No chunk matches, so no language model was asked.",
    "low_confidence": "No chunk is likely to answer it, so no language model was asked.",
    "declined": "The language model found no answer in the passages.",
    "no_citation_holds": "No citation of the language model's answer holds, so it is not shown.",
}

_PROBLEMS: Final[dict[CitationProblem, str]] = {
    "not_offered": "there is no passage with this number",
    "no_quote": "there is no quote for it",
    "short_quote": "the quote is too short to prove anything",
    "not_in_passage": "the quote is not in the passage",
}

_MARKS: Final[dict[StatementState, str]] = {
    "cited": "",
    "not_cited": " (no citation)",
    "not_proven": " (no citation that holds)",
}
"""Marks after statements."""

_REFRESHES_PER_SECOND: Final = 10
"""Updates of the terminal while an answer arrives; more would be noticed by nobody."""

_SOURCE_INDENT: Final = 4  # indentation of the lines below a source's title, in columns


@contextmanager
def _arriving_text() -> Iterator[Callable[[str], None]]:
    """Lend a function that shows a further part of an answer on a terminal, unchecked.

    The text disappears at the end of the block, since the checked answer takes its place.
    """
    text = ""
    live = Live(
        console=console(),
        transient=True,
        refresh_per_second=_REFRESHES_PER_SECOND,
        vertical_overflow="ellipsis",
    )

    def add(part: str) -> None:
        nonlocal text
        text += part
        live.update(Text(prose_for_stdout(text), style="dim"))

    with live if live.console.is_terminal else nullcontext():
        yield add


def print_answer(answer: Answer) -> None:
    """Print an answer with its sources on stdout, and what does not hold in it on stderr."""
    if answer.refused:
        print_refusal(answer)
        return
    failing = {each.number for each in answer.citations} - {
        each.number for each in answer.citations if each.holds
    }
    out = console()
    out.print(_marked(answer, failing), soft_wrap=width() is None)
    out.print()
    for number in dict.fromkeys(each.number for each in answer.citations):
        _print_source(number, [each for each in answer.citations if each.number == number])
    out.print()
    for note in notes_on(answer):
        say(note)


def print_refusal(answer: Answer) -> None:
    """Print a refusal and the nearest documents on stdout, and its reason on stderr."""
    out = console()
    out.print(Text(answer.text))
    nearest = {hit.source_document: hit for hit in reversed(answer.nearest)}
    if nearest:
        out.print()
        out.print(Text("The nearest documents:"))
    for document in dict.fromkeys(hit.source_document for hit in answer.nearest):
        hit = nearest[document]
        rating = f"  {in_words(hit.confidence)}".rstrip()
        out.print(Text.assemble(f"- {_line(hit.title)}", (rating, "dim")), soft_wrap=True)
        print_whole(cited(hit) or hit.id, 2)
    if answer.reason:
        say(_REASONS[answer.reason])


def notes_on(answer: Answer) -> Iterator[str]:
    """Yield what is to be said of an answer: its confidence, and what does not hold in it."""
    if confidence := in_words(answer.confidence):
        yield f"It is {confidence} that the sources answer the question."
    if failing := sum(not each.holds for each in answer.citations):
        yield f"Citations that do not hold: {failing} of {len(answer.citations)}."
    if unproven := sum(each.state != "cited" for each in answer.statements):
        yield f"Statements without a citation that holds: {unproven} of {len(answer.statements)}."


def _marked(answer: Answer, failing: set[int]) -> Text:
    """Return the text of an answer with a mark after each statement and citation that fails."""
    marked, position = Text(), 0
    for statement in answer.statements:
        marked.append(_prose(answer.text[position : statement.start], failing))
        style = "" if statement.state == "cited" else "yellow"
        marked.append(_prose(answer.text[statement.start : statement.end], failing), style=style)
        marked.append(_MARKS[statement.state], style="bold yellow")
        position = statement.end
    marked.append(_prose(answer.text[position:], failing))
    return marked


def _prose(text: str, failing: set[int]) -> str:
    def marked(citations: re.Match[str]) -> str:
        numbers = [
            f"{number}?" if number in failing else str(number)
            for number in cited_numbers(citations[0])
        ]
        return f"[{', '.join(numbers)}]"

    return prose_for_stdout(CITED.sub(marked, text))


def _print_source(number: int, citations: Sequence[CheckedCitation]) -> None:
    first = citations[0]
    mark = "" if any(each.holds for each in citations) else "?"
    print_whole(f"[{number}{mark}] {_line(first.title or 'unknown')}", 0, style="")
    if first.id:
        print_whole(cited(first) or first.id, _SOURCE_INDENT)
    for each in citations:
        if each.quote:
            print_whole(f'"{_line(each.quote)}"', _SOURCE_INDENT)
        if each.problem:
            print_whole(f"does not hold: {_PROBLEMS[each.problem]}", _SOURCE_INDENT, "yellow")


def _line(text: str) -> str:
    return " ".join(line_for_stdout(prose_for_stdout(" ".join(text.split()))).split())


@takes(AnswerOptions, "answering")
@takes(RewritingOptions, "normalizer")
def ask(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="QUESTION...", help="Question, with or without quotes.", show_default=False
        ),
    ] = None,
    limit: Annotated[
        int,
        typer.Option(
            min=1, max=MAX_TOP_K, help="Maximum number of chunks that the language model is given."
        ),
    ] = DEFAULT_TOP_K,
    filters: Filters = None,
    collection: CollectionName = None,
    *,
    answering: AnswerOptions,
    normalizer: RewritingOptions,
    index_path: IndexPath = DEFAULT_INDEX_PATH,
    as_json: Json = False,
) -> None:
    """Answer a question from the documents with a language model, and check its citations.

    Each citation must have a quote that is in the cited chunk; what does not hold is marked. The
    question and the chunks are sent to the language model's server. This command requires the
    package's extra "answers".

    Example: idx ask "how long is the notice period of the workshop?" --model qwen2.5:7b
    """
    question = " ".join(words or [])
    if not question.strip():
        raise typer.BadParameter(
            "give a question, such as: idx ask how long is the notice period",
            param_hint="'QUESTION...'",
        )

    from shared.answers.answer import answer_events
    from shared.model.filters import configured_collections, in_collection, parse_filter
    from shared.model.request import SearchRequest
    from shared.model.search_results import SearchAnswer
    from shared.reading.searcher import Searcher

    wanted = [*map(parse_filter, filters or ()), *in_collection(collection)]
    model = answer_model_of(answering)
    model.check()
    rewriting = rewriting_of(question, "plain", normalizer)
    with Searcher(index_path, collections=configured_collections()) as searcher:

        async def search(request: SearchRequest) -> SearchAnswer:
            return searcher.search(replace(request, rewritten=rewriting.rewritten))

        events = answer_events(question, search, model, top_k=limit, filters=wanted)
        answer = run(_answer(events, shown=not as_json))
    if as_json:
        print_json(answer)
        return
    print_answer(answer)


async def _answer(events: "AsyncGenerator[AnswerEvent]", *, shown: bool) -> Answer:
    async with aclosing(events):
        with _arriving_text() if shown else nullcontext() as show:
            async for event in events:
                match event:
                    case AnswerPart(part) if show:
                        show(part)
                    case Answer():
                        return event
    raise AssertionError("the last event is the answer")
