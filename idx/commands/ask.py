"""Command `idx ask`."""

from typing import TYPE_CHECKING, Annotated

import typer

from idx.cli.language_models import answer_model_of, rewriting_of, run
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
from idx.output.printing import print_json, say
from shared.answers.prompt import DEFAULT_TOP_K, MAX_TOP_K

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from shared.model.answers import Answer, AnswerEvent


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
    from dataclasses import replace

    from shared.answers.answer import answer_events
    from shared.model.filters import configured_collections, in_collection, parse_filter
    from shared.model.request import SearchRequest
    from shared.model.search_results import SearchAnswer
    from shared.reading.searcher import Searcher

    wanted = [*map(parse_filter, filters or ()), *in_collection(collection)]
    model = answer_model_of(answering)
    model.check()
    rewriting = rewriting_of(question, "plain", normalizer)
    if rewriting.diagnostic:
        say(rewriting.diagnostic)
    with Searcher(index_path, collections=configured_collections()) as searcher:

        async def search(request: SearchRequest) -> SearchAnswer:
            return searcher.search(replace(request, rewritten=rewriting.rewritten))

        events = answer_events(question, search, model, top_k=limit, filters=wanted)
        answer = run(_answer(events, shown=not as_json))
    if as_json:
        print_json(answer)
        return
    from idx.output.answer import print_answer

    print_answer(answer)


async def _answer(events: "AsyncGenerator[AnswerEvent]", *, shown: bool) -> "Answer":
    from contextlib import aclosing, nullcontext

    from idx.output.answer import ArrivingText
    from shared.model.answers import Answer, AnswerPart

    async with aclosing(events):
        with ArrivingText() if shown else nullcontext() as text:
            async for event in events:
                match event:
                    case AnswerPart(part) if text:
                        text.add(part)
                    case Answer():
                        return event
                    case _:
                        pass
    raise AssertionError("the last event is the answer")
