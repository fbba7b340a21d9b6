"""Language models as the options of a command name them, and requests to them."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from idx.cli.options import AnswerOptions, RewritingOptions
from idx.sync.events import uninterrupted
from shared.model.request import Syntax

if TYPE_CHECKING:
    from shared.answers.model import ServedAnswerModel
    from shared.rewriting import Rewriting

Result = TypeVar("Result")


def run(request: Coroutine[Any, Any, Result]) -> Result:
    """Wait for a request and return its result; Ctrl-C cancels it."""
    # Not asyncio.run, which would wait for a pending lookup of a server's name without a limit.
    loop = asyncio.new_event_loop()
    task = loop.create_task(request)
    try:
        # Libraries turn an interruption that is raised at an arbitrary place into errors of theirs.
        with (
            uninterrupted(on_signal=lambda: loop.call_soon_threadsafe(task.cancel)),
            suppress(asyncio.CancelledError),
        ):
            return loop.run_until_complete(task)
        raise KeyboardInterrupt
    finally:
        try:
            loop.run_until_complete(_end_tasks())
        finally:
            loop.close()


def rewriting_of(query: str, syntax: Syntax, options: RewritingOptions) -> "Rewriting":
    """Rewrite a query with the language model, if that is enabled."""
    from shared.rewriting import Rewriting, rewrite_query

    if not options.normalize:
        return Rewriting()
    from shared.rewriting import configured_model

    model = configured_model(
        options.normalizer_model, options.normalizer_url, options.normalizer_timeout
    )
    return run(rewrite_query(query, model, syntax))


def answer_model_of(options: AnswerOptions) -> "ServedAnswerModel":
    from shared.answers.model import configured_answer_model

    return configured_answer_model(
        options.answer_model, options.answer_url, options.answer_timeout, options.answer_max_tokens
    )


async def _end_tasks() -> None:
    """Cancel what an interruption has left, so that its blocks are left."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
