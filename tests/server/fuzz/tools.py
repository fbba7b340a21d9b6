"""The tools of a server, called with whatever hypothesis draws."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from hypothesis import HealthCheck, settings
from jsonschema import Draft202012Validator

from tests.programs import PROCESSES
from tests.server.raw_client import RawClient

EXAMPLES: Final = settings(
    max_examples=40 if PROCESSES in os.environ else 20,
    deadline=None,
    database=None,
    # The same in each run: what is found by chance is found by make soak.
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


@contextmanager
def fuzzed(index: Path, log: Path, *options: str) -> Iterator[RawClient]:
    """A client of a server that ends in order, and has met no error that was not foreseen."""
    with log.open("wb") as stderr, RawClient(index, *options, stderr=stderr) as client:
        try:
            client.initialize()
            yield client
            client.end()
            assert client.process.returncode == 0
            # The SDK warns of notifications that it drops.
            told = log.read_bytes()
            assert b"Traceback" not in told
            assert b"ERROR" not in told
        finally:
            client.process.kill()


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
        content, *_ = result["content"]
        if result.get("isError"):
            assert "structuredContent" not in result
            # The SDK says no more of what nobody has foreseen.
            assert not content["text"].startswith("Error executing tool"), (tool, given)
            assert 0 < len(content["text"]) < 3_000
        else:
            self._outputs[tool].validate(result["structuredContent"])
            assert json.loads(content["text"]) == result["structuredContent"]
        return answer
