"""Whatever a tool is called with, the answer is a result of its schema or tells what was wrong."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.offered_tools import OFFERED
from tests.server.fuzz.strategies import HALVES, arguments, texts
from tests.server.raw_client import RawClient

EXAMPLES = settings(
    max_examples=40,
    deadline=None,
    database=None,
    # The same in each run: what is found by chance is found by make soak.
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


class Tools:
    """The tools of a server, as it tells of them."""

    def __init__(self, client: RawClient) -> None:
        self._client = client
        tools = client.request("tools/list")["result"]["tools"]
        self.inputs = {tool["name"]: tool["inputSchema"] for tool in tools}
        self._outputs = {tool["name"]: Draft202012Validator(tool["outputSchema"]) for tool in tools}

    def check(self, tool: str, given: Any) -> dict[str, Any]:
        """Call a tool, and see that its answer is well formed."""
        answer = self._client.request("tools/call", name=tool, arguments=given)
        if "error" in answer:
            assert answer["error"]["code"] in {-32600, -32602, -32700}, answer
            assert answer["error"]["message"]
            return answer
        result: dict[str, Any] = answer["result"]
        [content] = result["content"]
        if result.get("isError"):
            assert "structuredContent" not in result
            # The SDK says no more of what nobody has foreseen.
            assert not content["text"].startswith("Error executing tool"), (tool, given)
            assert 0 < len(content["text"]) < 3_000
        else:
            self._outputs[tool].validate(result["structuredContent"])
            assert json.loads(content["text"]) == result["structuredContent"]
        return answer


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
