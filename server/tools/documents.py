"""Tools for documents: list, details, and files that failed."""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from server.answers.budget import fit, shorten_details, shorten_failure, shorten_summary
from server.answers.errors import AnswerTooLongError
from server.answers.text import DEFAULT_CHARACTERS
from server.runtime.state import ToolContext, ask
from server.tools.arguments import CollectionName, DocumentId, ListDetail, MaxCharacters, Offset
from shared.model.index_results import DocumentDetails, DocumentList, FailureList
from shared.model.metadata import chunk_metadata
from shared.model.request import BY_ID, DocumentSort


async def list_documents(
    context: ToolContext,
    offset: Offset = 0,
    limit: Annotated[int, Field(ge=1, le=1_000, description="Maximum number of documents.")] = 100,
    prefix: Annotated[str, Field(description="Prefix of the ids.")] = "",
    collection: CollectionName = None,
    sort: Annotated[
        DocumentSort,
        Field(description="Sort order; a leading minus puts the newest or greatest first."),
    ] = BY_ID,
    detail: Annotated[
        ListDetail, Field(description="full includes file sizes, hashes and all other metadata.")
    ] = "brief",
    max_characters: MaxCharacters = DEFAULT_CHARACTERS,
) -> DocumentList:
    """List the documents in the index with their titles and numbers of chunks.

    Use this to learn which documents exist, or to find a document's id; to search the contents of
    documents, use Search. To read a document, use get_document_chunks.
    """
    answer = await ask(
        context,
        lambda searcher: searcher.documents(
            prefix=prefix, offset=offset, limit=limit, sort=sort, collection=collection
        ),
    )
    listed = answer.documents
    if detail == "brief":
        listed = [replace(summary, metadata=chunk_metadata(summary.metadata)) for summary in listed]
    documents, notice = fit(listed, max_characters, shorten_summary)
    return replace(answer, documents=documents, notice=notice)


async def document_details(
    context: ToolContext,
    source_document_id: DocumentId,
    max_characters: MaxCharacters = DEFAULT_CHARACTERS,
) -> DocumentDetails:
    """Show all metadata of a document, with its file, language, length and first words.

    Use this to assess a document from Search or ListDocuments, or to learn its author, date and
    length; other results omit some of the metadata. To read it, use get_document_chunks.
    """
    answer = await ask(context, lambda searcher: searcher.document_details(source_document_id))
    fitting, notice = fit([answer], max_characters, shorten_details)
    if not fitting:
        raise AnswerTooLongError(max_characters)
    return replace(fitting[0], notice=notice)


async def list_failures(
    context: ToolContext,
    offset: Offset = 0,
    limit: Annotated[int, Field(ge=1, le=1_000, description="Maximum number of files.")] = 100,
    max_characters: MaxCharacters = DEFAULT_CHARACTERS,
) -> FailureList:
    """List the files in the indexed folders that are not, or only partly, in the index, and why.

    Use this when the user asks for a file that Search does not find, or whether everything is
    indexed: files may be damaged, protected, too large, empty or of an unsupported format. If a
    file was indexed before it became unreadable, its older version is still in the index.
    """
    answer = await ask(context, lambda searcher: searcher.failures(offset=offset, limit=limit))
    failures, notice = fit(answer.failures, max_characters, shorten_failure)
    return replace(answer, failures=failures, notice=notice)
