"""Language model that answers questions: a provider's, or one on a server of your own.

``openai:gpt-5-mini`` and ``anthropic:claude-haiku-4-5`` are models of providers; any other name is
that of a model on a server with OpenAI's chat completions, by default Ollama on this machine.
"""

import os
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final

from shared.errors import LanguageModelError
from shared.language_models.endpoint import (
    PROVIDERS,
    Endpoint,
    check_library,
    check_url,
    load,
)
from shared.settings.defaults import (
    ANSWER_API_KEY_VARIABLE,
    DEFAULT_ANSWER_MAX_TOKENS,
    DEFAULT_ANSWER_TIMEOUT,
    LOCAL_MODEL_URL,
)

_EXTRA: Final = "answers"


@dataclass(frozen=True, slots=True)
class ServedAnswerModel:
    """A language model that answers questions.

    Attributes:
        name: the model, as ``PROVIDER:NAME`` or as its server calls it; None if none was
            configured.
        url: the base address of a server with OpenAI's chat completions, whose model `name` is;
            None for a provider's server, or for Ollama on this machine.
        timeout: maximum time until the whole answer has arrived, in seconds.
        max_tokens: maximum length of an answer with its quotes, in tokens.
        api_key: the key of the server; None to send none.

    Raises:
        ConfigurationError: the URL is not valid, or contains a password.
    """

    name: str | None
    url: str | None = None
    timeout: float = DEFAULT_ANSWER_TIMEOUT
    max_tokens: int = DEFAULT_ANSWER_MAX_TOKENS
    api_key: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.url is not None:
            check_url("answer_url", self.url, ANSWER_API_KEY_VARIABLE)

    def check(self) -> None:
        """Check that the model can be asked, without contacting a server.

        Raises:
            LanguageModelError: no model is named, or its provider needs a key or a library.
            ExtraMissingError: a library is not installed.
        """
        self._endpoint()

    @property
    def provider(self) -> str | None:
        """The provider of the model; None for a server of one's own."""
        prefix, colon, name = (self.name or "").partition(":")
        return prefix if not self.url and colon and name and prefix in PROVIDERS else None

    async def reply(self, instructions: str, prompt: str) -> AsyncGenerator[str]:
        """Yield the reply of the model in parts, as they arrive."""
        endpoint = self._endpoint()
        await load("shared.language_models.requests", _EXTRA)
        from shared.language_models.requests import answer_in_parts

        async with aclosing(answer_in_parts(instructions, prompt, endpoint)) as parts:
            async for part in parts:
                yield part

    def _endpoint(self) -> Endpoint:
        if not self.name:
            raise LanguageModelError(
                "there is no language model that answers questions",
                "name one in IDX_ANSWER_MODEL, or with the setting answer_model",
            )
        check_library("answering questions", _EXTRA)
        provider = self.provider
        if provider is not None:
            self._check_provider(provider)
        return Endpoint(
            name=self.name.removeprefix(f"{provider}:"),
            url=None if provider else self.url or LOCAL_MODEL_URL,
            timeout=self.timeout,
            max_tokens=self.max_tokens,
            provider=provider,
            api_key=self.api_key,
            too_long="allow more with answer_max_tokens, or use a model that reasons less",
        )

    def _check_provider(self, provider: str) -> None:
        if not self.api_key:
            raise LanguageModelError(
                f"the provider {provider} needs a key",
                f"put it into the variable {ANSWER_API_KEY_VARIABLE}; for a model on your own "
                "server, set answer_url",
            )


def configured_answer_model(
    name: str | None, url: str | None, timeout: float, max_tokens: int
) -> ServedAnswerModel:
    """Return the language model of the settings, with the key from the environment."""
    key = os.environ.get(ANSWER_API_KEY_VARIABLE)
    return ServedAnswerModel(name, url, timeout, max_tokens, key)
