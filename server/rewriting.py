"""The query of a tool in the words of a language model, if the server has one."""

from dataclasses import replace

from server.state import ToolContext
from shared.model.request import Syntax
from shared.rewriting.rewriter import Rewriting, normalize


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
