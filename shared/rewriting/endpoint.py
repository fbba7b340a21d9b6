"""Endpoint of a language model: its address and the parameters of a request."""

from dataclasses import dataclass, field

from shared.errors import ConfigurationError
from shared.settings.types import url_problem


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A language model on a server with OpenAI's chat completions.

    Attributes:
        name: the model's name on its server; None if none was configured.
        url: the base address, without ``/chat/completions``.
        timeout: maximum time until the whole answer has arrived, in seconds.
        api_key: the bearer token; None to send none.

    Raises:
        ConfigurationError: the URL is not valid, or contains a password.
    """

    name: str | None
    url: str
    timeout: float
    api_key: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if problem := url_problem(self.url):
            raise ConfigurationError("normalizer_url", problem)
