"""Requests to a language model with pydantic-ai; imported on the first request."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

import httpx2
from openai import AsyncOpenAI
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.exceptions import ModelConnectionError, UserError
from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    UserPromptPart,
)
from pydantic_ai.models import Model, infer_model
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers import Provider, infer_provider_class
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.settings import ModelSettings

from shared.errors import LanguageModelError
from shared.language_models.endpoint import Endpoint
from shared.language_models.transport import MAX_BODY_BYTES, BoundedTransport

_PROFILE: Final = OpenAIModelProfile(
    # The older name of the limit is the one that all local servers support.
    openai_chat_supports_max_completion_tokens=False,
    # A model's name does not show what the server supports.
    openai_supports_reasoning=False,
    supports_thinking=False,
)

_PROFILE_IN_PARTS: Final = OpenAIModelProfile(
    **_PROFILE,
    # The library looks for tags of reasoning only at the edges of parts, and would lose the answer
    # behind one that it overlooks.
    thinking_tags=("\0", "\0"),
)

_KEY_PLACEHOLDER: Final = "none"
"""Placeholder for the key that the client requires; the transport sends the real one."""

_BYTES_PER_TOKEN: Final = 1_000
"""Maximum size of a token that arrives by itself, in bytes with its envelope; usual are 200 to
400."""


async def whole_answer(instructions: str, prompt: str, served: Endpoint) -> str:
    """Return the answer of a model, which arrives at once."""
    with _explained(served):
        async with (
            asyncio.timeout(served.timeout),
            _model(served, BoundedTransport(served.key_headers), _PROFILE) as model,
        ):
            response = await model_request(
                model, _messages(instructions, prompt), model_settings=_settings(served)
            )
    _check_complete(response, served)
    return response.text or ""


async def answer_in_parts(instructions: str, prompt: str, served: Endpoint) -> AsyncGenerator[str]:
    """Yield the answer of a model in parts, as they arrive.

    Reasoning is left out if the server sends it apart from the answer.

    The request is ended when the iterator is closed. The arguments and errors are those of
    `whole_answer`.
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
    instructions: str, prompt: str, served: Endpoint, parts: asyncio.Queue[str | None]
) -> None:
    """Put the parts of an answer into a queue, and None at the end or before an error."""
    transport = BoundedTransport(
        served.key_headers,
        max_bytes=MAX_BODY_BYTES + served.max_tokens * _BYTES_PER_TOKEN,
        in_parts=True,
    )
    try:
        with _explained(served):
            async with (
                asyncio.timeout(served.timeout),
                _model(served, transport, _PROFILE_IN_PARTS) as model,
                model_request_stream(
                    model, _messages(instructions, prompt), model_settings=_settings(served)
                ) as stream,
            ):
                async for event in stream:
                    match event:
                        case PartStartEvent(part=TextPart(content=str(text))):
                            parts.put_nowait(text)
                        case PartDeltaEvent(delta=TextPartDelta(content_delta=str(text))):
                            parts.put_nowait(text)
                        case _:
                            pass
                response = stream.get()
        _check_complete(response, served)
        # The library takes the end of the connection for that of the answer, too.
        if response.finish_reason in {None, "stop"} and not (response.provider_details or {}).get(
            "finish_reason"
        ):
            raise LanguageModelError("the language model's server broke off its answer")
    finally:
        parts.put_nowait(None)


@contextmanager
def _explained(served: Endpoint) -> Iterator[None]:
    """Turn every error of a request into one that says what happened."""
    try:
        yield
    except TimeoutError as error:
        raise LanguageModelError(
            f"the language model did not answer within {served.timeout:g} s"
        ) from error
    except (ModelConnectionError, httpx2.TransportError) as error:
        if reported := _reported(error):
            raise reported from error
        raise LanguageModelError(
            f"the language model's server{served.place} cannot be reached, or closed the connection"
        ) from error
    except LanguageModelError:
        raise
    except UserError as error:
        raise LanguageModelError(
            f"the provider {served.provider} has no model {served.name!r} ({error})"
        ) from error
    except Exception as error:  # any of three libraries may fail on what a server sends
        # Without the text of the error, which may contain what a server sent.
        raise LanguageModelError(
            f"the language model's server sent something other than an answer "
            f"({type(error).__name__})"
        ) from error


def _reported(error: BaseException | None) -> LanguageModelError | None:
    """Return the error of the transport that a library reports as one of the connection."""
    while error:
        if isinstance(error, LanguageModelError):
            return error
        error = error.__cause__ or error.__context__
    return None


def _check_complete(response: ModelResponse, served: Endpoint) -> None:
    if response.finish_reason == "length":
        raise LanguageModelError(
            f"the language model answered with more than {served.max_tokens} tokens",
            served.too_long,
        )


@asynccontextmanager
async def _model(
    served: Endpoint, transport: BoundedTransport, profile: OpenAIModelProfile
) -> AsyncIterator[Model]:
    """Yield the client of a model."""
    # A new client for each request, so that nothing is kept for the next one or another event loop.
    async with httpx2.AsyncClient(transport=transport, trust_env=False) as http_client:
        if served.provider:
            hosted = _hosted(served.provider, http_client)
            yield infer_model(f"{served.provider}:{served.name}", lambda _: hosted)
            return
        client = AsyncOpenAI(
            base_url=served.url, api_key=_KEY_PLACEHOLDER, http_client=http_client, max_retries=0
        )
        provider = OpenAICompatibleProvider("local", openai_client=client, profile=profile)
        yield OpenAIChatModel(served.name, provider=provider)


def _hosted(provider: str, http_client: httpx2.AsyncClient) -> Provider[object]:
    # Those of `PROVIDERS` all have these two arguments.
    made: Provider[object] = infer_provider_class(provider)(
        api_key=_KEY_PLACEHOLDER,  # type: ignore[call-arg]  # the base class does not declare them
        http_client=http_client,
    )
    return made


def _messages(instructions: str, prompt: str) -> list[ModelRequest]:
    return [ModelRequest(parts=[UserPromptPart(prompt)], instructions=instructions)]


def _settings(served: Endpoint) -> ModelSettings:
    settings = ModelSettings(max_tokens=served.max_tokens, max_retries=0)
    # Some hosted models refuse a temperature.
    return settings if served.provider else ModelSettings(**settings, temperature=0.0)
