"""A language model: its name, server, provider and key, and the limits of a request.

A search imports this module, whether a model rewrites its query or not, so it is light.
"""

import os
import re
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar, Final, Self

from shared.errors import ConfigurationError, ExtraMissingError, LanguageModelError
from shared.settings.defaults import KEY_VARIABLES, LOCAL_MODEL_URL

PROVIDERS: Final[dict[str, str | None]] = {
    "alibaba": "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    "anthropic": "https://api.anthropic.com/v1",
    "cerebras": "https://api.cerebras.ai/v1",
    "deepseek": "https://api.deepseek.com",
    "fireworks": "https://api.fireworks.ai/inference/v1",
    "moonshotai": "https://api.moonshot.ai/v1",
    "nebius": "https://api.studio.nebius.com/v1",
    # Its library knows the address, and a variable for another one.
    "openai": None,
    "openai-chat": None,
    "openrouter": "https://openrouter.ai/api/v1",
    "ovhcloud": "https://oai.endpoints.kepler.ai.cloud.ovh.net/v1",
    "sambanova": "https://api.sambanova.ai/v1",
    "together": "https://api.together.xyz/v1",
    "vercel": "https://ai-gateway.vercel.sh/v1",
}
"""Providers with OpenAI's chat completions, by the name before the colon of a model, and the base
address of each."""


_REASONING: Final = re.compile(r"\A\s*<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
"""Reasoning that a server does not keep apart from the reply."""


@dataclass(frozen=True)
class LanguageModel:
    """A language model and its server; a subclass says what it is asked for."""

    name: str | None
    url: str | None
    timeout: float
    max_tokens: int
    api_key: str | None = field(default=None, repr=False)

    _SETTINGS: ClassVar[str]  # the beginning of the names of its settings
    _EXTRA: ClassVar[str]
    _FEATURE: ClassVar[str]  # what needs the extra
    _MISSING: ClassVar[str]  # what is wrong without a name
    TOO_LONG: ClassVar[str]  # what helps against an answer that is too long

    def __post_init__(self) -> None:
        from shared.settings.types import url_problem

        if self.url is not None and (problem := url_problem(self.url, self._key_variable())):
            raise ConfigurationError(f"{self._SETTINGS}_url", problem)

    @classmethod
    def _key_variable(cls) -> str:
        return KEY_VARIABLES[f"{cls._SETTINGS}_url"]

    @classmethod
    def configured(cls, *settings: Any) -> Self:
        """Return the model of the settings, with the key from the environment."""
        return replace(cls(*settings), api_key=os.environ.get(cls._key_variable()))

    @property
    def provider(self) -> str | None:
        """The provider of the model; None for a server of one's own."""
        prefix, colon, name = (self.name or "").partition(":")
        return prefix if not self.url and colon and name and prefix in PROVIDERS else None

    @property
    def base_url(self) -> str | None:
        """The base address of the server; None for the one that its provider's library knows."""
        return PROVIDERS[self.provider] if self.provider else self.url or LOCAL_MODEL_URL

    @property
    def place(self) -> str:
        """The server, in words of a message."""
        return f" of {self.provider}" if self.provider else f" at {self.base_url}"

    def check(self) -> None:
        """Check that the model can be asked, without contacting a server.

        Raises:
            LanguageModelError: no model is named, or its provider needs a key.
            ExtraMissingError: a library is not installed.
        """
        if not self.name:
            variable = f"IDX_{self._SETTINGS.upper()}_MODEL"
            raise LanguageModelError(
                self._MISSING, f"name one in {variable}, or with the setting {self._SETTINGS}_model"
            )
        if find_spec("openai") is None:
            raise ExtraMissingError(self._FEATURE, self._EXTRA, "openai")
        if self.provider and not self.api_key:
            raise LanguageModelError(
                f"the provider {self.provider} needs a key",
                f"put it into the variable {self._key_variable()}; for a model on your own server, "
                f"set {self._SETTINGS}_url",
            )

    async def _load(self) -> None:
        """Check the model, and import what asks it, in a thread.

        Imports take a second, which does not count towards a timeout and must not block others.
        """
        import asyncio

        self.check()
        try:
            await asyncio.to_thread(import_module, "shared.language_models.requests")
        except ImportError as error:
            raise LanguageModelError(
                f"openai cannot be loaded ({error})",
                f"install the versions of mcp-lucene[{self._EXTRA}]",
            ) from error


def without_reasoning(reply: str) -> str:
    return _REASONING.sub("", reply)
