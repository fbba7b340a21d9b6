"""The prompt for a question about the documents."""

from typing import Annotated, Final

from pydantic import Field

from server.answers.errors import LanguageNotFoundError
from server.prompts.wording import CITATION, no_orders, quoted
from server.runtime.known_values import known_languages
from server.runtime.state import ToolContext, ask
from server.tools.table import chosen_tools

_TOOLS_TO_READ_ON: Final = {"get_next_chunk", "get_previous_chunk"}

_READ_ON: Final = """\
Read the chunks around the best results with get_next_chunk and get_previous_chunk, until you
   have everything that belongs to the answer."""

_ANSWER: Final = f"""\
Answer briefly, in the language of the question, and only from the documents.
   {CITATION}"""

_GAPS: Final = """\
If the documents contradict each other, say so and cite both. If they do not answer the question
   or answer only a part of it, say so, and say what you searched for. Add nothing of your own."""


async def answer_from_documents(
    context: ToolContext,
    question: Annotated[
        str, Field(min_length=1, max_length=8_000, description="Question to answer.")
    ],
    language: Annotated[
        str,
        Field(
            max_length=100,
            description="ISO 639-1 code of a language, such as en, to use only documents in it.",
        ),
    ] = "",
) -> str:
    """Have a question answered.

    Raises:
        LanguageNotFoundError: no document is in the language.
    """
    search = "Call Search: first with the words of the question, then with synonyms"
    if language:
        known = await ask(context, known_languages)
        if language not in known:
            raise LanguageNotFoundError(language, known)
        condition = f'[{{"field": "language", "value": {quoted(language)}}}]'
        search += f",\n   in the language of the documents. Use the filters {condition}."
    else:
        search += "\n   and in the other languages of the documents."
    offered = chosen_tools(context.request_context.lifespan_context.settings)
    steps = [search, *([_READ_ON] if offered.keys() >= _TOOLS_TO_READ_ON else []), _ANSWER, _GAPS]
    numbered = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, start=1))
    return f"""\
Answer this question from my documents: {quoted(question)}

{numbered}

{no_orders()}
"""
