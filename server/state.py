"""State shared by the handlers, and calls to the index within the time budget."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken, principal_components
from mcp.server.mcpserver import Context

from server.answers import errors
from server.lucene_pool import LucenePool, QueryDisplacedError
from server.pictures.renderer import Renderer
from server.settings import SCOPES, Limit, ServerSettings, limit_of
from shared.java.cancellation import Cancellation, SearchStoppedError
from shared.model.request import SearchRequest, Syntax
from shared.model.search_results import SearchAnswer
from shared.rewriting import Rewriting, rewrite_query

if TYPE_CHECKING:
    from server.administration.operations import Administration
    from shared.answers.model import ServedAnswerModel
    from shared.reading.searcher import Searcher
    from shared.rewriting import ServedModel

Answer = TypeVar("Answer")

_PROGRESS_INTERVAL_SECONDS: Final = 1.0  # between progress notifications
_PARTIAL_RESULT_SECONDS: Final = 4.0  # for a search to return partial results after the time budget
_STOP_GRACE_SECONDS: Final = 5.0  # for a call to end after the time budget before it is abandoned


Report = Callable[[float, float, str], Awaitable[None]]
"""Function that receives the seconds spent, the budget in seconds, and the present step."""


@dataclass(frozen=True)
class ServerState:
    """Objects that live as long as the server."""

    settings: ServerSettings
    pool: LucenePool
    language_model: "ServedModel | None" = None  # rewrites queries
    administration: "Administration | None" = None
    answer_model: "ServedAnswerModel | None" = None  # need not be usable; None over stdio
    renderer: Renderer = field(default_factory=Renderer)
    public_base: str | None = None  # as clients see it, without a slash at its end; None over stdio
    needs_token: bool = False

    def limit(self) -> Limit:
        """Return the collections that the current request may see; None for the whole index.

        A request without a token is refused where every request needs one.
        """
        token = get_access_token()
        if token is not None:
            return limit_of(token.scopes)
        if self.needs_token:
            raise errors.TokenMissingError
        return None

    async def ask(
        self,
        work: Callable[["Searcher"], Answer],
        *,
        partial: bool = False,
        report: Report | None = None,
    ) -> Answer:
        """Answer a request from the index, within the server's time budget.

        When the budget is used up, or the caller is cancelled, Lucene's search is stopped. If the
        result can say that it is partial, a search returns its results so far instead. `report`
        receives the progress each second.
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
                    raise errors.TimeBudgetError(budget)
                if spent < budget:
                    pause = min(pause, budget - spent)
                elif not has_begun.is_set():
                    raise errors.ServerBusyError(budget)
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
                raise errors.TimeBudgetError(budget) from error
            return answer.result()
        finally:
            if not answer.done():
                cancellation.cancel()
                answer.cancel()

    async def search(self, request: SearchRequest, report: Report | None = None) -> SearchAnswer:
        """Search for a query, and for its rewriting by a language model if there is one."""
        rewriting = await self.rewriting(request.query, request.syntax)
        asked = replace(request, rewritten=rewriting.rewritten)
        answer = await self.ask(
            lambda searcher: searcher.search(asked), partial=True, report=report
        )
        return replace(answer, diagnostics=rewriting.diagnostics)

    async def rewriting(self, query: str, syntax: Syntax) -> Rewriting:
        """Rewrite a query on the event loop, without occupying a Lucene thread."""
        if self.language_model is None:
            return Rewriting()
        rewriting = await rewrite_query(query, self.language_model, syntax)
        return replace(rewriting, diagnostic=rewriting.client_diagnostic)


ToolContext: TypeAlias = Context[ServerState, Any]  # of a tool, resource or prompt


async def ask(context: ToolContext, work: Callable[["Searcher"], Answer]) -> Answer:
    """Answer a request of a client as `ServerState.ask` does, with a notification each second."""
    state = context.request_context.lifespan_context
    return await state.ask(work, report=context.report_progress)


def granted_scopes(request: object | None) -> frozenset[str]:
    """Return the scopes of the current request; it is None over stdio.

    Over stdio these are all, since whoever started the server owns the index. Over HTTP they are
    those of the token, or ``read`` without authentication.
    """
    token = get_access_token()
    if token is not None:
        return frozenset(token.scopes)
    return SCOPES if request is None else frozenset({"read"})


Holder: TypeAlias = tuple[str, str | None, str | None] | None
"""Holder of a token, by its name or its claims: tokens of one name have one share. None if the
server asks for no token."""


def holder_of(token: AccessToken | None) -> Holder:
    """Return the holder of a token, as a key."""
    return None if token is None else principal_components(token)
