"""Endpoint of a language model: its server, its provider and the limits of a request."""

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from shared.errors import ConfigurationError
from shared.settings.types import url_problem


class Provider(NamedTuple):
    """A provider of hosted models."""

    library: str = "openai"
    key_header: str = "authorization"


PROVIDERS: Final = {
    "anthropic": Provider("anthropic", "x-api-key"),
    **dict.fromkeys(
        (
            *("openai", "openai-chat", "alibaba", "cerebras", "deepseek", "fireworks"),
            *("moonshotai", "nebius", "openrouter", "ovhcloud", "sambanova", "together", "vercel"),
        ),
        Provider(),
    ),
}
"""Providers of pydantic-ai, by the name before the colon of a model, whose requests can be bounded:
their libraries take a client for HTTP."""


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
        """The headers that carry the key."""
        if not self.api_key:
            return {}
        header = PROVIDERS[self.provider].key_header if self.provider else "authorization"
        return {header: f"Bearer {self.api_key}" if header == "authorization" else self.api_key}


def check_url(setting: str, url: str, key_variable: str) -> None:
    """Check the address of a server."""
    if problem := url_problem(url, key_variable):
        raise ConfigurationError(setting, problem)
