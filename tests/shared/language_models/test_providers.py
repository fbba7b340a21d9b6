"""Models of providers, which are asked like a server of one's own."""

import pytest

from shared.answers.model import ServedAnswerModel
from shared.errors import LanguageModelError
from shared.language_models.endpoint import PROVIDERS
from tests.model_server import (
    Answer,
    ModelServer,
    hangs_up,
    is_silent,
    sends_bytes,
    serving,
    streams,
)

KEY = "sk-swordfish"
TEXT = "The rent is due [1]."
PROTOCOLS = ("openai", "openai-chat", "anthropic", "openrouter")


async def reply(
    provider: str, server: ModelServer, monkeypatch: pytest.MonkeyPatch, timeout: float = 20
) -> str:
    # Where the library looks for another address than OpenAI's.
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    if PROVIDERS[provider]:
        monkeypatch.setitem(PROVIDERS, provider, server.url)
    model = ServedAnswerModel(f"{provider}:test", None, timeout, 77, KEY)
    return "".join([part async for part in model.reply("Be brief.", "Is it due?")])


@pytest.mark.parametrize("provider", PROTOCOLS)
async def test_a_provider_is_asked_with_its_key_alone(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_ORG_ID"):
        monkeypatch.setenv(name, "of another program")
    with serving(streams(TEXT)) as server:
        assert await reply(provider, server, monkeypatch) == TEXT
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert (request.body["model"], request.body["stream"]) == ("test", True)
    assert 77 in request.body.values()
    known = {"host", "content-type", "content-length", "accept", "accept-encoding", "user-agent"}
    others = {name: value for name, value in request.headers.items() if name not in known}
    assert others == {"authorization": f"Bearer {KEY}"}


@pytest.mark.parametrize("provider", PROTOCOLS)
@pytest.mark.parametrize(
    ("answer", "message", "timeout"),
    [
        (sends_bytes(b'{"error": "secret-of-the-server"}', 401), "status 401; check its key", 20),
        (sends_bytes(b"{}", 529), "with HTTP status 529", 20),
        (sends_bytes(b"{}", Content_Type="application/json"), "but as application/json", 20),
        (hangs_up, "not send its answer in parts", 20),
        (is_silent, "did not answer within 1 s", 1),
        (streams(TEXT, "length"), "more than 77 tokens; allow more with answer_max_tokens", 20),
        (streams(TEXT, None), "broke off its answer", 20),
    ],
)
async def test_trouble_is_an_error_that_says_what_happened(
    provider: str, answer: Answer, message: str, timeout: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(answer) as server:
        with pytest.raises(LanguageModelError, match=message) as raised:
            await reply(provider, server, monkeypatch, timeout)
        assert len(server.requests) == 1
    assert KEY not in str(raised.value)
    assert "secret-of-the-server" not in str(raised.value)


async def test_a_provider_without_a_key_says_what_to_do() -> None:
    with pytest.raises(LanguageModelError, match="openai needs a key; put it into the variable"):
        ServedAnswerModel("openai:test").check()


@pytest.mark.parametrize("name", ["qwen2.5:7b", "mistral:7b", "llama", "openai:"])
async def test_any_other_name_is_that_of_a_model_on_this_machine(name: str) -> None:
    local = ServedAnswerModel(name)
    assert (local.provider, local.base_url) == (None, "http://localhost:11434/v1")
    with serving(streams(TEXT)) as server:
        model = ServedAnswerModel(f"openai:{name}", server.url)
        assert "".join([part async for part in model.reply("", "Is it due?")]) == TEXT
    assert server.requests[0].body["model"] == f"openai:{name}"
