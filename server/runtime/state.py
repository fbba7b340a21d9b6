"""What the handlers of a server share while it runs, and how they ask the index."""

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from mcp.server.mcpserver import Context

from server.answers.errors import QueryDisplacedError, ServerBusyError, TimeBudgetError
from server.runtime.lucene_pool import LucenePool
from server.settings import ServerSettings
from shared.java.cancellation import Cancellation, SearchStoppedError
from shared.model.request import Syntax
from shared.rewriting.rewriter import Rewriting, normalize

if TYPE_CHECKING:
    from server.administration.service import Administration
    from shared.reading.searcher import Searcher
    from shared.rewriting.rewriter import LanguageModel


Answer = TypeVar("Answer")

_PROGRESS_SECONDS: Final = 1.0
"""How often a client hears that its request is still being answered."""

_SECONDS_TO_SUM_UP: Final = 4.0
"""How long a search may take to return what it has found when its time is over."""

_SECONDS_TO_STOP: Final = 5.0
"""How long a call may take to notice that its time is over before it is no longer waited for."""


@dataclass(frozen=True)
class ServerState:
    """What lives as long as the server.

    Attributes:
        settings: the choices of whoever started it.
        pool: the threads and the searcher that answer from the index.
        language_model: what rewrites queries before they are searched; None for nothing.
        administration: what runs `idx`; None if the server offers no administration.
    """

    settings: ServerSettings
    pool: LucenePool
    language_model: "LanguageModel | None" = None
    administration: "Administration | None" = None


ToolContext: TypeAlias = Context[ServerState, Any]
"""What a tool, a resource or a prompt is told of the request that it answers."""


def administration(context: ToolContext) -> "Administration":
    """What runs `idx`, for a tool that only a server with administration offers.

    Args:
        context: the request.
    """
    service = context.request_context.lifespan_context.administration
    assert service is not None  # noqa: S101 - see server.tools.table
    return service


async def ask(
    context: ToolContext, work: Callable[["Searcher"], Answer], *, partial: bool = False
) -> Answer:
    """Answer a request from the index, within the server's budget of time.

    The client is told of the progress each second. When the budget is used up, or the client
    cancels the request, what Lucene searches for it is stopped.

    Args:
        context: the request.
        work: asks the searcher; it runs in a thread of the pool.
        partial: whether an answer says of itself that it is what was found until the budget was
            used up; any other would be taken for all that there is.

    Raises:
        McpLuceneError: what the work raised, or why Java could not start.
        ServerBusyError: no thread was free for it until the budget was used up.
        QueryDisplacedError: it took long, and was stopped since too many others do.
        TimeBudgetError: the work took longer.
    """
    state = context.request_context.lifespan_context
    budget, began = state.settings.time_budget, time.monotonic()
    cancellation, has_begun = Cancellation(), threading.Event()

    def begin(searcher: "Searcher") -> Answer:
        has_begun.set()
        return work(searcher)

    answer = asyncio.ensure_future(state.pool.run(begin, cancellation))
    try:
        pause = min(_PROGRESS_SECONDS, budget)
        while not (await asyncio.wait({answer}, timeout=pause))[0]:
            spent = time.monotonic() - began
            pause = _PROGRESS_SECONDS
            if spent >= budget + _SECONDS_TO_STOP:
                raise TimeBudgetError(budget)
            if spent < budget:
                pause = min(pause, budget - spent)
            elif not has_begun.is_set():
                raise ServerBusyError(budget)
            elif partial and spent < budget + _SECONDS_TO_SUM_UP:
                cancellation.end_searches()
            else:
                cancellation.cancel()
            await context.report_progress(spent, budget, "searching")
        error = answer.exception()
        was_stopped = isinstance(error, SearchStoppedError) or not partial
        if cancellation.cancelled and was_stopped and not isinstance(error, QueryDisplacedError):
            raise TimeBudgetError(budget) from error
        return answer.result()
    finally:
        if not answer.done():
            cancellation.cancel()
            answer.cancel()


async def rewriting_of(context: ToolContext, query: str, syntax: Syntax) -> Rewriting:
    """Rewrite a query, while no thread of Lucene waits for it.

    Args:
        context: the request.
        query: what was asked.
        syntax: how it is read.
    """
    model = context.request_context.lifespan_context.language_model
    if model is None:
        return Rewriting()
    rewriting = await normalize(query, model, syntax)
    return replace(rewriting, diagnostic=rewriting.client_diagnostic)
