"""The tools on documents as a whole: `ListDocuments` and `list_failures`."""

from dataclasses import replace
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from pydantic import Field

from server.arguments import MaxCharacters, Offset
from server.budget import DEFAULT_CHARACTERS, fit, shorten_failure, shorten_summary
from server.lucene_pool import LucenePool
from shared.results import DocumentList, FailureList


async def list_documents(
    context: Context[LucenePool, Any],
    offset: Offset = 0,
    limit: Annotated[int, Field(ge=1, le=1_000, description="Documents to return.")] = 100,
    prefix: Annotated[str, Field(description="Only documents whose id begins so.")] = "",
    max_characters: MaxCharacters = DEFAULT_CHARACTERS,
) -> DocumentList:
    """List the documents of the index in the order of their ids, with titles and sizes.

    Use this to learn what there is, or to find a document's id; to find something in the
    documents use Search. Then read a document with get_document_chunks and its source_document.
    """
    answer = await context.request_context.lifespan_context.run(
        lambda searcher: searcher.documents(prefix=prefix, offset=offset, limit=limit)
    )
    documents, notice = fit(answer.documents, max_characters, shorten_summary)
    return replace(answer, documents=documents, notice=notice)


async def list_failures(
    context: Context[LucenePool, Any],
    offset: Offset = 0,
    limit: Annotated[int, Field(ge=1, le=1_000, description="Files to return.")] = 100,
    max_characters: MaxCharacters = DEFAULT_CHARACTERS,
) -> FailureList:
    """List the files of the indexed folders that are not in the index, and why.

    Use this when the user asks for a file that Search does not find, or whether everything is
    indexed: files may be damaged, protected, too large, without text, or of a kind that is not
    read. A file that was indexed before it became unreadable is there in its older version.
    """
    answer = await context.request_context.lifespan_context.run(
        lambda searcher: searcher.failures(offset=offset, limit=limit)
    )
    failures, notice = fit(answer.failures, max_characters, shorten_failure)
    return replace(answer, failures=failures, notice=notice)
