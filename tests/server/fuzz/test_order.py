"""Hostile calls and lines, and messages at the wrong time, too often, or too long."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from tests.offered_tools import OFFERED
from tests.server.fuzz.strategies import HALVES, arguments, messages, texts
from tests.server.fuzz.tools import EXAMPLES, Tools
from tests.server.raw_client import HANDSHAKE, RawClient, tool_call


def line(method: str, id_: object = None, **params: Any) -> bytes:
    """A request, or a notification if it has no id."""
    named = {} if id_ is None else {"id": id_}
    message = {"jsonrpc": "2.0", **named, "method": method, "params": params}
    return json.dumps(message).encode()


def search(id_: object, query: str = "word1") -> bytes:
    return json.dumps(tool_call(id_, query=query)).encode()


def test_a_second_handshake_leaves_the_session_as_it_is(client: RawClient) -> None:
    [answer] = client.exchange([line("initialize", "again", **HANDSHAKE)])
    assert answer["id"] == "again"
    list(client.exchange([line("notifications/initialized")] * 3))
    assert client.search("word1")["structuredContent"]["query"] == "word1"


def test_what_concerns_no_request_is_passed_over(client: RawClient) -> None:
    lines = [
        line("notifications/cancelled", requestId="never"),
        line("notifications/cancelled", requestId=10_001),
        line("notifications/progress", progressToken="never", progress=1),
        b'{"jsonrpc": "2.0", "id": "never", "result": {}}',
        b'{"jsonrpc": "2.0", "id": 10001, "error": {"code": 1, "message": "x"}}',
    ]
    assert list(client.exchange(lines)) == []


def test_requests_with_the_same_id_are_answered_by_it(client: RawClient) -> None:
    client.send_line(b"\n".join([search("twin")] * 2))
    answers = [client.receive() for _ in range(2)]
    assert [answer["id"] for answer in answers] == ["twin"] * 2


@pytest.mark.soak
def test_a_hundred_requests_at_once_each_get_their_answer(index: Path) -> None:
    ids = [f"r{number}" for number in range(100)]
    # They wait for each other, and the machine may be busy.
    with RawClient(index, "--time-budget", "120") as client:
        client.initialize()
        client.send_line(b"\n".join(search(id_, f"word{id_[1:]} OR word1") for id_ in ids))
        answers = {answer["id"]: answer["result"] for answer in (client.receive() for _ in ids)}
        client.end()
    assert answers.keys() == set(ids)
    for id_, result in answers.items():
        assert result["structuredContent"]["query"] == f"word{id_[1:]} OR word1"


@pytest.mark.parametrize("characters", [20_001, 20_000_000])
def test_an_oversize_request_is_answered_briefly(client: RawClient, characters: int) -> None:
    client.send_line(search("long", "x" * characters))
    answer = client.receive()
    assert answer["id"] == "long"
    assert answer["result"]["isError"]
    assert f"the query has {characters:,} characters" in answer["result"]["content"][0]["text"]
    assert len(json.dumps(answer)) < 1_000


@pytest.fixture(scope="module")
def tools(client: RawClient) -> Tools:
    return Tools(client)


@pytest.mark.parametrize("tool", OFFERED)
@EXAMPLES
@given(data=st.data())
def test_any_arguments_are_answered(tools: Tools, tool: str, data: st.DataObject) -> None:
    tools.check(tool, data.draw(arguments(tools.inputs[tool])))


@EXAMPLES
@given(before=texts, half=st.sampled_from(HALVES), after=texts)
def test_half_of_a_character_is_told_of(tools: Tools, before: str, half: str, after: str) -> None:
    for tool, argument in (("Search", "query"), ("get_next_chunk", "chunk_id")):
        answer = tools.check(tool, {argument: before + half + after})
        assert "hex escape" in answer["error"]["message"]


METHODS = [
    *("initialize", "notifications/initialized", "notifications/cancelled", "ping"),
    *("tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read"),
    *("resources/subscribe", "resources/unsubscribe", "prompts/list", "prompts/get"),
    *("completion/complete", "logging/setLevel", "subscriptions/listen", "server/discover"),
    *("notifications/progress", "no/such/method", ""),
]


@pytest.mark.soak
@EXAMPLES
@given(lines=st.lists(messages(METHODS), min_size=25, max_size=25))
def test_a_thousand_lines_are_passed_over_or_answered(
    client: RawClient, lines: list[bytes]
) -> None:
    for answer in client.exchange(lines):
        assert ("result" in answer) + ("error" in answer) + ("method" in answer) == 1, answer
        if "error" in answer:
            assert isinstance(answer["error"]["code"], int)
            assert isinstance(answer["error"]["message"], str)
    assert client.search("word1")["structuredContent"]["query"] == "word1"
