"""Where there are several tokens, none of them runs more than half of the calls."""

import select
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.server.http.served import Served, begin_call, served_here, status_of_answer
from tests.waiting import wait_for

FIRST = {"Authorization": "Bearer " + "f" * 40}
SECOND = {"Authorization": "Bearer " + "s" * 40}
TWO = f"first:read:{'f' * 40} second:read:{'s' * 40}"
ONE = f"first:read:{'f' * 40}"


@contextmanager
def running(server: Served, calls: int) -> Iterator[None]:
    """Have calls of the first token run within a block, each of which is answered in the end."""
    with ExitStack() as opened:
        connections = [opened.enter_context(server.connection()) for _ in range(calls)]
        last = [begin_call(connection, **FIRST) for connection in connections]
        wait_for(lambda: server.metrics(**FIRST)["mcp_lucene_running_requests"] == calls, "all run")
        yield
        for connection, rest in zip(connections, last, strict=True):
            connection.send(rest)
            assert status_of_answer(connection) == 200


def test_one_token_runs_half_of_the_calls(documents: Path, tmp_path: Path) -> None:
    with served_here(documents, "--max-requests", 4, tokens=TWO, log=tmp_path / "log") as server:
        with running(server, 2):
            refused = server.call(headers=FIRST, query="text")
            assert refused.status_code == 429
            assert refused.headers["retry-after"] == "1"
            assert server.call(headers=SECOND, query="text").status_code == 200
        assert server.call(headers=FIRST, query="text").status_code == 200


def test_calls_of_one_token_that_wait_keep_no_other_waiting(
    documents: Path, tmp_path: Path
) -> None:
    with (
        served_here(documents, "--max-requests", 4, tokens=TWO, log=tmp_path / "log") as server,
        running(server, 2),
    ):
        # The first search takes longer than a call waits.
        assert server.call(headers=SECOND, query="text").status_code == 200
        # On a machine that is busy enough, calls are refused before others can be answered.
        assert any(is_answered_before_others_are_refused(server) for _ in range(3))


def is_answered_before_others_are_refused(server: Served) -> bool:
    """Check that a call is admitted as soon as there is room, though another token's wait longer.

    Two calls of the first token run. Ten more wait, then one of the second token, whose two running
    calls end.
    """
    with ExitStack() as opened:
        one, other, late, *many = (opened.enter_context(server.connection()) for _ in range(13))
        lasts = [(connection, begin_call(connection, **SECOND)) for connection in (one, other)]
        wait_for(lambda: server.metrics(**FIRST)["mcp_lucene_running_requests"] == 4, "all run")
        for connection in many:
            connection.send(begin_call(connection, **FIRST))
        late.send(begin_call(late, **SECOND))
        time.sleep(0.1)
        for connection, last in lasts:
            connection.send(last)
        assert [status_of_answer(connection) for connection in (one, other, late)] == [200] * 3
        refused, _, _ = select.select([connection.sock for connection in many], [], [], 0)
        assert [status_of_answer(connection) for connection in many] == [429] * 10
        return not refused


@pytest.mark.soak
def test_a_token_that_is_the_only_one_has_everything(documents: Path, tmp_path: Path) -> None:
    with (
        served_here(documents, "--max-requests", 4, tokens=ONE, log=tmp_path / "log") as server,
        running(server, 4),
    ):
        assert server.call(headers=FIRST, query="text").status_code == 429
