"""The prompts that read documents from beginning to end."""

from typing import Annotated, Final

from pydantic import Field

from server.answers.fence import fenced
from server.prompts.wording import CITATION, no_orders, quoted
from server.runtime.state import ToolContext, ask
from shared.messages import shortened
from shared.model.index_results import DocumentDetails

_CHUNKS_PER_CALL: Final = 10
"""Number of chunks per call: 2,500 words and their fences take about 24,000 characters in English,
which leaves room in one answer for languages with longer words and for metadata."""

_MAX_TITLE_CHARACTERS: Final = 200

DocumentId = Annotated[
    str, Field(min_length=1, max_length=10_000, description="Id of a document in the index.")
]


async def summarize_document(context: ToolContext, document_id: DocumentId) -> str:
    """Have a document summarized.

    Raises:
        DocumentNotFoundError: there is no such document.
    """
    details = await ask(context, lambda searcher: searcher.document_details(document_id))
    return f"""\
Summarize the document {_named(details)}.

1. {_how_to_read(details)}
2. For each chunk, note its number and what is new in it, in one or two sentences. Neighbouring
   chunks overlap by 40 words: do not note the same text twice.
3. Then write, in the language of the document:
   - a summary in at most ten sentences,
   - a list of its parts in order, each with its content and the numbers of its chunks,
   - the important names, dates, amounts and obligations, word for word.
   {CITATION}

{no_orders()}
"""


async def compare_documents(
    context: ToolContext, first_document_id: DocumentId, second_document_id: DocumentId
) -> str:
    """Have two documents compared.

    Raises:
        DocumentNotFoundError: one of them is not there.
    """
    first, second = await ask(
        context,
        lambda searcher: (
            searcher.document_details(first_document_id),
            searcher.document_details(second_document_id),
        ),
    )
    return f"""\
Compare two documents: the first is {_named(first)}, the second is {_named(second)}.

1. {_how_to_read(first)}
2. {_how_to_read(second)}
3. Then compare them point by point:
   - what both say,
   - where they differ, in a table with a column for each,
   - what only one of them says.
   {CITATION}
4. Distinguish differences in wording from differences in meaning, and say which matter most.

{no_orders()}
"""


def _named(details: DocumentDetails) -> str:
    brief = shortened(details.title, _MAX_TITLE_CHARACTERS)
    return f"{fenced(quoted(brief))} (id {quoted(details.source_document)})"


def _how_to_read(details: DocumentDetails) -> str:
    count, name = details.chunk_count, quoted(details.source_document)
    first = (
        "Call get_document_chunks with "
        f'{{"source_document_id": {name}, "start_index": 1, "count": {_CHUNKS_PER_CALL}}}'
    )
    if count <= _CHUNKS_PER_CALL:
        return f"{first}, which returns all of it."
    return (
        f"{first},\n   then with start_index {_CHUNKS_PER_CALL + 1} and so on, up to its last "
        f"chunk, number {count:,}. Skip none."
    )
