"""Whatever a tool is called with, the answer is a result of its schema or tells what was wrong."""

import pytest
from hypothesis import given, strategies as st

from tests.offered_tools import OFFERED
from tests.server.fuzz.strategies import HALVES, arguments, texts
from tests.server.fuzz.tools import EXAMPLES, Tools
from tests.server.raw_client import RawClient


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
