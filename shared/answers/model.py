"""Language model that answers questions: a provider's, or one on a server of your own.

``openai:gpt-5-mini`` and ``anthropic:claude-haiku-4-5`` are models of providers; any other name is
that of a model on a server with OpenAI's chat completions, by default Ollama on this machine.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from shared.language_models.endpoint import LanguageModel
from shared.settings.defaults import DEFAULT_ANSWER_MAX_TOKENS, DEFAULT_ANSWER_TIMEOUT


@dataclass(frozen=True)
class ServedAnswerModel(LanguageModel):
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

    url: str | None = None
    timeout: float = DEFAULT_ANSWER_TIMEOUT
    max_tokens: int = DEFAULT_ANSWER_MAX_TOKENS

    _SETTINGS = "answer"
    _EXTRA = "answers"
    _FEATURE = "answering questions"
    _MISSING = "there is no language model that answers questions"
    TOO_LONG = "allow more with answer_max_tokens, or use a model that reasons less"

    async def reply(self, instructions: str, prompt: str) -> AsyncGenerator[str]:
        """Yield the reply of the model in parts, as they arrive."""
        await self._load()
        from shared.language_models.requests import answer_in_parts

        async with aclosing(answer_in_parts(instructions, prompt, self)) as parts:
            async for part in parts:
                yield part
