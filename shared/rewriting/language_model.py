"""Language model that rewrites queries, on a server with OpenAI's chat completions.

Ollama, llama.cpp, LM Studio and vLLM are such servers. The client libraries are an extra of the
distribution; they are imported when the first query is rewritten.
"""

import os
from dataclasses import dataclass, field
from typing import Final

from shared.errors import LanguageModelError
from shared.language_models.endpoint import Endpoint, check_url
from shared.language_models.libraries import check_libraries, load
from shared.rewriting.prompt import INSTRUCTIONS, MAX_ANSWER_TOKENS, request_of
from shared.settings.defaults import NORMALIZER_API_KEY_VARIABLE

_EXTRA: Final = "normalizer"


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A language model that rewrites queries; see `shared.rewriting.rewriter`."""

    name: str | None
    url: str
    timeout: float
    api_key: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_url("normalizer_url", self.url, NORMALIZER_API_KEY_VARIABLE)

    def check(self) -> None:
        """Check that a model can be asked, without contacting a server."""
        self._endpoint()

    async def rewrite(self, query: str) -> str:
        """Return the query as rewritten by the model."""
        endpoint = self._endpoint()
        await load("shared.language_models.requests", _EXTRA)
        from shared.language_models.requests import whole_answer

        return await whole_answer(INSTRUCTIONS, request_of(query), endpoint)

    def _endpoint(self) -> Endpoint:
        if not self.name:
            raise LanguageModelError(
                "there is no language model",
                "name one in IDX_NORMALIZER_MODEL, or with the setting normalizer_model",
            )
        check_libraries("rewriting", _EXTRA)
        return Endpoint(self.name, self.url, self.timeout, MAX_ANSWER_TOKENS, api_key=self.api_key)


def configured_model(name: str | None, url: str, timeout: float) -> ServedModel:
    """Return the language model of the settings, with the key from the environment."""
    return ServedModel(name, url, timeout, os.environ.get(NORMALIZER_API_KEY_VARIABLE))
