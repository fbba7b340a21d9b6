"""The prompts: one table, by public name, of what people are told of each and the function."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from mcp.server.mcpserver.prompts import Prompt

from server.prompts.answering import answer_from_documents
from server.prompts.reading import compare_documents, summarize_document
from server.runtime.known_values import Completer, document_ids, languages
from server.settings import ServerSettings
from server.tools.table import chosen_tools


@dataclass(frozen=True)
class PromptEntry:
    """A prompt as the server registers it.

    Attributes:
        title: the name that people see.
        description: what it is for.
        function: makes the text; its arguments are those of the prompt.
        tools: the tools without which it is of no use.
        completers: what completes its arguments, where anything does.
    """

    title: str
    description: str
    function: Callable[..., Awaitable[str]]
    tools: tuple[str, ...]
    completers: Mapping[str, Completer] = field(default_factory=dict)


PROMPTS: Final[Mapping[str, PromptEntry]] = {
    "answer_from_documents": PromptEntry(
        "Answer from my documents",
        "Answer a question from the documents alone, with a source for each statement.",
        answer_from_documents,
        ("Search",),
        {"language": languages},
    ),
    "summarize_document": PromptEntry(
        "Summarize a document",
        "Summarize a document chunk by chunk, then as a whole.",
        summarize_document,
        ("get_document_chunks",),
        {"document_id": document_ids},
    ),
    "compare_documents": PromptEntry(
        "Compare two documents",
        "Show what two documents have in common, and where they differ.",
        compare_documents,
        ("get_document_chunks",),
        {"first_document_id": document_ids, "second_document_id": document_ids},
    ),
}


def chosen_prompts(settings: ServerSettings) -> list[Prompt]:
    """The prompts whose tools a server offers, as the SDK takes them."""
    tools = chosen_tools(settings).keys()
    return [
        Prompt.from_function(
            entry.function, name=name, title=entry.title, description=entry.description
        )
        for name, entry in PROMPTS.items()
        if tools >= set(entry.tools)
    ]
