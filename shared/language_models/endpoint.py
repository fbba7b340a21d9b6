"""Endpoint of a language model: its server, its provider and the limits of a request."""

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from shared.errors import ConfigurationError
from shared.settings.types import url_problem


class Provider(NamedTuple):
    """A provider of hosted models.

    Attributes:
        library: the import name of its client library.
        key_header: the header in which it expects the key.
    """

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
    """A language model, its server, and the limits of a request.

    Attributes:
        name: the model's name on its server, without a provider.
        url: the base address of a server with OpenAI's chat completions, without
            ``/chat/completions``; None for a provider's own server.
        provider: a key of `PROVIDERS`; None for the server at `url`.
        timeout: maximum time until the whole answer has arrived, in seconds.
        max_tokens: maximum length of an answer, in tokens of the model, which include its
            reasoning.
        api_key: the key that is sent to the server; None to send none.
        too_long: the next step if an answer has more tokens.
    """

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
    """Check the address of a server.

    Args:
        setting: the setting that holds it.
        url: the address.
        key_variable: the environment variable for the server's key.

    Raises:
        ConfigurationError: the address is not valid, or contains a password.
    """
    if problem := url_problem(url, key_variable):
        raise ConfigurationError(setting, problem)
