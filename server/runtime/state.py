"""State shared by the handlers, and calls to the index within the time budget."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.mcpserver import Context

from server.answers.errors import (
    QueryDisplacedError,
    ServerBusyError,
    TimeBudgetError,
    TokenMissingError,
)
from server.rendering.renderer import Renderer
from server.runtime.limit import Limit, limit_of
from server.runtime.lucene_pool import LucenePool
from server.runtime.recent_values import RecentValues
from server.settings import ServerSettings
from shared.java.cancellation import Cancellation, SearchStoppedError
from shared.model.request import Syntax
from shared.rewriting import Rewriting, rewrite_query

if TYPE_CHECKING:
    from server.administration.service import Administration
    from shared.answers.model import ServedAnswerModel
    from shared.model.index_results import DocumentFile
    from shared.reading.searcher import Searcher
    from shared.rewriting import LanguageModel


Answer = TypeVar("Answer")

_PROGRESS_INTERVAL_SECONDS: Final = 1.0
"""Interval between progress notifications, in seconds."""

_PARTIAL_RESULT_SECONDS: Final = 4.0
"""Maximum time for a search to return partial results after the time budget, in seconds."""

_STOP_GRACE_SECONDS: Final = 5.0
"""Maximum time for a call to end after the time budget before it is abandoned, in seconds."""


FoundPage: TypeAlias = "tuple[DocumentFile | None, tuple[str, ...]]"
"""The file of a document, and the words that a search marks on one of its pages."""

_MAX_FOUND_PAGES: Final = 500

Report = Callable[[float, float, str], Awaitable[None]]
"""Function that receives the seconds spent, the budget in seconds, and the present step."""


@dataclass(frozen=True)
class ServerState:
    """Objects that live as long as the server.

    Attributes:
        settings: the settings chosen by the operator.
        pool: the thread pool and its searcher.
        language_model: the language model that rewrites queries; None for no rewriting.
        administration: the administration service; None if the server offers none.
        answer_model: the language model that answers questions, which need not be usable; None if
            the server answers none.
        renderer: the renderer of pages.
        found_pages: what the index has for pictures of pages, by commit, document, page and query.
        public_base: the URL of the server as clients see it, without a slash at its end; None over
            stdio.
        needs_token: true if every request needs a token, which may be limited to collections.
    """

    settings: ServerSettings
    pool: LucenePool
    language_model: "LanguageModel | None" = None
    administration: "Administration | None" = None
    answer_model: "ServedAnswerModel | None" = None
    renderer: Renderer = field(default_factory=Renderer)
    found_pages: RecentValues[FoundPage] = field(
        default_factory=lambda: RecentValues(_MAX_FOUND_PAGES)
    )
    public_base: str | None = None
    needs_token: bool = False

    def limit(self) -> Limit:
        """Return the collections that the current request may see; None for the whole index.

        Raises:
            TokenMissingError: the request has no token, though every request needs one.
        """
        token = get_access_token()
        if token is not None:
            return limit_of(token.scopes)
        if self.needs_token:
            raise TokenMissingError
        return None

    async def ask(
        self,
        work: Callable[["Searcher"], Answer],
        *,
        partial: bool = False,
        report: Report | None = None,
    ) -> Answer:
        """Answer a request from the index, within the server's time budget.

        When the budget is used up, or the caller is cancelled, Lucene's search is stopped.

        Args:
            work: the work with the searcher; it runs in a thread of the pool.
            partial: whether the result can say that it is partial, so that a search may return its
                results so far when the budget is used up.
            report: receives the progress each second; None if nobody waits for it.

        Raises:
            McpLuceneError: the work raised it, or Java could not start.
            TokenMissingError: the request has no token, though every request needs one.
            ServerBusyError: no thread was free within the budget.
            QueryDisplacedError: the call was slow, and was stopped since too many others were slow.
            TimeBudgetError: the work took longer than the budget.
        """
        budget, began = self.settings.time_budget, time.monotonic()
        cancellation, has_begun = Cancellation(budget), threading.Event()

        def begin(searcher: "Searcher") -> Answer:
            has_begun.set()
            return work(searcher)

        answer = asyncio.ensure_future(self.pool.run(begin, cancellation, within=self.limit()))
        try:
            pause = min(_PROGRESS_INTERVAL_SECONDS, budget)
            while not (await asyncio.wait({answer}, timeout=pause))[0]:
                spent = time.monotonic() - began
                pause = _PROGRESS_INTERVAL_SECONDS
                if spent >= budget + _STOP_GRACE_SECONDS:
                    raise TimeBudgetError(budget)
                if spent < budget:
                    pause = min(pause, budget - spent)
                elif not has_begun.is_set():
                    raise ServerBusyError(budget)
                elif partial and spent < budget + _PARTIAL_RESULT_SECONDS:
                    cancellation.end_searches()
                else:
                    cancellation.cancel()
                if report is not None:
                    await report(spent, budget, "searching")
            error = answer.exception()
            was_stopped = isinstance(error, SearchStoppedError) or not partial
            is_displaced = isinstance(error, QueryDisplacedError)
            if cancellation.cancelled and was_stopped and not is_displaced:
                raise TimeBudgetError(budget) from error
            return answer.result()
        finally:
            if not answer.done():
                cancellation.cancel()
                answer.cancel()

    async def rewriting(self, query: str, syntax: Syntax) -> Rewriting:
        """Rewrite a query on the event loop, without occupying a Lucene thread.

        Args:
            query: the query.
            syntax: the query's syntax.
        """
        if self.language_model is None:
            return Rewriting()
        rewriting = await rewrite_query(query, self.language_model, syntax)
        return replace(rewriting, diagnostic=rewriting.client_diagnostic)


ToolContext: TypeAlias = Context[ServerState, Any]
"""The context of a request to a tool, resource or prompt."""


def administration(context: ToolContext) -> "Administration":
    """Return the administration service, for tools that only a server with administration offers.

    Args:
        context: the request's context.
    """
    service = context.request_context.lifespan_context.administration
    assert service is not None  # noqa: S101 - see server.tools.table
    return service


async def ask(
    context: ToolContext, work: Callable[["Searcher"], Answer], *, partial: bool = False
) -> Answer:
    """Answer a request of a client as `ServerState.ask` does, with a notification each second.

    Args:
        context: the request's context.
        work: the work with the searcher.
        partial: whether the result can say that it is partial.
    """
    state = context.request_context.lifespan_context
    return await state.ask(work, partial=partial, report=context.report_progress)
