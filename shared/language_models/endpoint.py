"""Endpoint of a language model: its server, provider and client, and the limits of a request.

A search imports this module, whether a model rewrites its query or not, so it is light.
"""

import re
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Final

from shared.errors import ConfigurationError, ExtraMissingError, LanguageModelError

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


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A language model, its server, and the limits of a request."""

    name: str
    url: str | None
    timeout: float
    max_tokens: int
    provider: str | None = None
    api_key: str | None = field(default=None, repr=False)
    too_long: str = "use one that does not print its reasoning"

    @property
    def place(self) -> str:
        """The server, in words of a message."""
        return f" at {self.url}" if self.url else f" of {self.provider}"

    @property
    def key_headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.api_key}"} if self.api_key else {}


def check_url(setting: str, url: str, key_variable: str) -> None:
    """Check the address of a server."""
    from shared.settings.types import url_problem

    if problem := url_problem(url, key_variable):
        raise ConfigurationError(setting, problem)


def check_library(feature: str, extra: str) -> None:
    """Check that the client library is installed, without importing it."""
    if find_spec("openai") is None:
        raise ExtraMissingError(feature, extra, "openai")


async def load(module: str, extra: str) -> None:
    """Import a module that needs the library, in a thread.

    Imports take a second, which does not count towards a timeout and must not block others.
    """
    import asyncio

    try:
        await asyncio.to_thread(import_module, module)
    except ImportError as error:
        raise LanguageModelError(
            f"openai cannot be loaded ({error})",
            f"install the versions of mcp-lucene[{extra}]",
        ) from error


def without_reasoning(reply: str) -> str:
    return _REASONING.sub("", reply)
