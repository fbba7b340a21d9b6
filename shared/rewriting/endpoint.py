"""The address of a language model, and what is needed to ask it."""

from dataclasses import dataclass, field

from shared.errors import ConfigurationError
from shared.settings.types import url_problem


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A language model at a server that speaks OpenAI's chat completions.

    Attributes:
        name: the model, as its server calls it; None if nobody named one.
        url: the base address, without ``/chat/completions``.
        timeout: seconds until the whole answer must have arrived.
        api_key: sent as a bearer token, if there is one.

    Raises:
        ConfigurationError: the URL is not one, or has a password in it.
    """

    name: str | None
    url: str
    timeout: float
    api_key: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if problem := url_problem(self.url):
            raise ConfigurationError("normalizer_url", problem)
