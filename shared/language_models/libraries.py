"""Client libraries of language models: whether they are there, and loading them."""

import asyncio
from importlib import import_module
from importlib.util import find_spec
from typing import Final

from shared.errors import ExtraMissingError, LanguageModelError

LIBRARIES: Final = ("openai", "pydantic_ai")
"""Libraries of a server with OpenAI's chat completions."""


def check_libraries(feature: str, extra: str, libraries: tuple[str, ...] = LIBRARIES) -> None:
    """Check that client libraries are installed, without importing them."""
    for library in libraries:
        if find_spec(library) is None:
            raise ExtraMissingError(feature, extra, library)


async def load(module: str, extra: str) -> None:
    """Import a module that needs the libraries, in a thread.

    Imports take a second, which does not count towards a timeout and must not block others.
    """
    try:
        await asyncio.to_thread(import_module, module)
    except ImportError as error:
        raise LanguageModelError(
            f"pydantic-ai-slim cannot be loaded ({error})",
            f"install the versions of mcp-lucene[{extra}]",
        ) from error
