"""Requests to a language model by OpenAI's chat completions; imported on the first request."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from typing import Any, Final

import httpx2
from openai import APIConnectionError, AsyncOpenAI
from openai.resources.chat import AsyncChat

from shared.errors import LanguageModelError
from shared.language_models.endpoint import LanguageModel, without_reasoning
from shared.language_models.transport import MAX_BODY_BYTES, bounded_client

_KEY_PLACEHOLDER: Final = "none"
"""Placeholder for the key that the client requires; `bounded_client` sends the real one."""

_BYTES_PER_TOKEN: Final = 1_000
"""Maximum size of a token that arrives by itself, in bytes with its envelope; usual are 200 to
400."""


async def whole_answer(instructions: str, prompt: str, served: LanguageModel) -> str:
    """Return the answer of a model, which arrives at once.

    A LanguageModelError says why there is none, or only the beginning of one.
    """
    with _explained(served):
        async with asyncio.timeout(served.timeout), bounded_client(served.api_key) as client:
            completion: Any = await _chat(client, served).completions.create(
                **_request(instructions, prompt, served), stream=False
            )
        choice = completion.choices[0]
        text = _text(choice.message.content)
    _check_complete(choice.finish_reason, served)
    return without_reasoning(text)


async def answer_in_parts(
    instructions: str, prompt: str, served: LanguageModel
) -> AsyncGenerator[str]:
    """Yield the answer of a model in parts, as they arrive.

    Reasoning is left out if the server sends it apart from the answer. The request is ended when
    the iterator is closed. The errors are those of `whole_answer`.
    """
    parts: asyncio.Queue[str | None] = asyncio.Queue()
    # A task of its own, since a timeout must not cancel whoever reads the parts.
    request = asyncio.create_task(_put_parts(instructions, prompt, served, parts))
    try:
        while (part := await parts.get()) is not None:
            yield part
        await request
    finally:
        request.cancel()
        await asyncio.gather(request, return_exceptions=True)


async def _put_parts(
    instructions: str, prompt: str, served: LanguageModel, parts: asyncio.Queue[str | None]
) -> None:
    """Put the parts of an answer into a queue, and None at the end or before an error."""
    most = MAX_BODY_BYTES + served.max_tokens * _BYTES_PER_TOKEN
    finish_reason = None
    try:
        with _explained(served):
            async with (
                asyncio.timeout(served.timeout),
                bounded_client(served.api_key, max_bytes=most, in_parts=True) as client,
            ):
                request = _request(instructions, prompt, served)
                stream: Any = await _chat(client, served).completions.create(**request, stream=True)
                async for event in stream:
                    for choice in event.choices[:1]:
                        parts.put_nowait(_text(choice.delta.content))
                        finish_reason = choice.finish_reason or finish_reason
        _check_complete(finish_reason, served)
        # The library takes the end of the connection for that of the answer, too.
        if not finish_reason:
            raise LanguageModelError("the language model's server broke off its answer")
    finally:
        parts.put_nowait(None)


def _text(content: Any) -> str:
    """Return the text of a content, which the library does not check; some servers send a list."""
    if isinstance(content, list):
        return "".join(str(part["text"]) for part in content)
    if content is not None and not isinstance(content, str):
        raise TypeError
    return content or ""


@contextmanager
def _explained(served: LanguageModel) -> Iterator[None]:
    """Turn every error of a request into one that says what happened."""
    try:
        yield
    except TimeoutError as error:
        raise LanguageModelError(
            f"the language model did not answer within {served.timeout:g} s"
        ) from error
    except (APIConnectionError, httpx2.TransportError) as error:
        if reported := _reported(error):
            raise reported from error
        raise LanguageModelError(
            f"the language model's server{served.place} cannot be reached, or closed the connection"
        ) from error
    except LanguageModelError:
        raise
    except Exception as error:  # either library may fail on what a server sends
        # Without the text of the error, which may contain what a server sent.
        raise LanguageModelError(
            f"the language model's server sent something other than an answer "
            f"({type(error).__name__})"
        ) from error


def _reported(error: BaseException | None) -> LanguageModelError | None:
    """Return the error of an answer that a library reports as one of the connection."""
    while error:
        if isinstance(error, LanguageModelError):
            return error
        error = error.__cause__ or error.__context__
    return None


def _check_complete(finish_reason: object, served: LanguageModel) -> None:
    if finish_reason == "length":
        raise LanguageModelError(
            f"the language model answered with more than {served.max_tokens} tokens",
            served.TOO_LONG,
        )


def _chat(client: httpx2.AsyncClient, served: LanguageModel) -> AsyncChat:
    # A new client for each request, so that nothing is kept for the next one or another event loop.
    return AsyncOpenAI(
        base_url=served.base_url,
        api_key=_KEY_PLACEHOLDER,
        http_client=client,
        max_retries=0,
    ).chat


def _request(instructions: str, prompt: str, served: LanguageModel) -> dict[str, Any]:
    # The older name of the limit is the one that all servers support but OpenAI's.
    limit = (
        "max_completion_tokens" if (served.provider or "").startswith("openai") else "max_tokens"
    )
    # Some hosted models refuse a temperature.
    settings = {} if served.provider else {"temperature": 0.0}
    messages = [("system", instructions), ("user", prompt)]
    return {
        "model": (served.name or "").removeprefix(f"{served.provider}:"),
        "messages": [{"role": role, "content": content} for role, content in messages],
        limit: served.max_tokens,
        **settings,
    }
