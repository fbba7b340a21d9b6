"""The table of prompts, by public name: title, description and function."""

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
        title: its display name.
        description: its purpose, for people.
        function: creates the text; its arguments are those of the prompt.
        tools: the tools that it requires.
        completers: the completers of its arguments, by name.
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
    """Return the prompts whose tools the server offers, as SDK objects."""
    tools = chosen_tools(settings).keys()
    return [
        Prompt.from_function(
            entry.function, name=name, title=entry.title, description=entry.description
        )
        for name, entry in PROMPTS.items()
        if tools >= set(entry.tools)
    ]
