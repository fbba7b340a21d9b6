"""Lines that are no messages, or none of the kind that is expected, leave a server that answers."""

import pytest
from hypothesis import given, strategies as st

from tests.server.fuzz.strategies import messages
from tests.server.fuzz.tools import EXAMPLES
from tests.server.raw_client import RawClient

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
