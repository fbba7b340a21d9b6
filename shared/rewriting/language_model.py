"""Language model on a server with OpenAI's chat completions, local or remote.

Ollama, llama.cpp, LM Studio and vLLM are such servers. The client libraries are an extra of the
distribution; they are imported when the first query is rewritten.
"""

import asyncio
import os
from importlib.util import find_spec
from typing import Final

from shared.errors import ExtraMissingError, LanguageModelError
from shared.rewriting.endpoint import Endpoint
from shared.settings.defaults import NORMALIZER_API_KEY_VARIABLE

LIBRARIES: Final = ("openai", "pydantic_ai")


class ServedModel(Endpoint):
    """A language model that rewrites queries; see `shared.rewriting.rewriter`."""

    def check(self) -> None:
        """Check that a model can be asked, without contacting a server.

        Raises:
            LanguageModelError: no model is named.
            ExtraMissingError: a library is not installed.
        """
        if not self.name:
            raise LanguageModelError(
                "there is no language model",
                "name one in IDX_NORMALIZER_MODEL, or with the setting normalizer_model",
            )
        for library in LIBRARIES:
            if find_spec(library) is None:
                raise ExtraMissingError("rewriting", "normalizer", library)

    async def rewrite(self, query: str) -> str:
        """Return the query as rewritten by the model.

        Raises:
            LanguageModelError: it does not answer, or not in time.
            ExtraMissingError: a library is not installed.
        """
        self.check()
        # Imports take a second, which does not count towards the timeout; in a thread they do not
        # block others.
        await asyncio.to_thread(_load)
        from shared.rewriting.chat import rewrite

        return await rewrite(query, self)


def configured_model(name: str | None, url: str, timeout: float) -> ServedModel:
    """Return the language model of the settings, with the key from the environment.

    Raises:
        ConfigurationError: the URL is not valid, or contains a password.
    """
    return ServedModel(name, url, timeout, os.environ.get(NORMALIZER_API_KEY_VARIABLE))


def _load() -> None:
    try:
        import shared.rewriting.chat  # noqa: F401 - imported to load it
    except ImportError as error:
        raise LanguageModelError(
            f"pydantic-ai-slim cannot be loaded ({error})",
            "install the versions of mcp-lucene[normalizer]",
        ) from error
