"""Clients whose queries take as long as they may, and others who ask for a word meanwhile."""

import random
import select
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from shared import Document, Index, create
from tests.programs import run_idx
from tests.server.http.served import Served, bearer, begin_call, served_here, status_of_answer
from tests.server.test_show_page import write_slow_and_fast
from tests.waiting import wait_for

ATTACKERS = 4
VICTIMS = 2

_LETTERS = "abcdefghijklm"


def _patterns(count: int) -> str:
    parts = (f"*{a}{b}{c}*" for a in _LETTERS for b in _LETTERS for c in _LETTERS)
    return " ".join(part for part, _ in zip(parts, range(count), strict=False))


ATTACKS = {
    "2,000 patterns": _patterns(2_000),
    "as many patterns as are allowed": _patterns(250),
    "phrases of two words that repeat": " ".join(
        f'"aa bb aa bb aa {word}"~{slop}' for slop in range(100, 180) for word in ("aa", "bb")
    ),
    "a phrase of thousands of words": f'"{" ".join(["aa bb bb aa"] * 1_600)}"~1000',
    "phrases of fifty words": " ".join(f'"{"aa bb bb " * 17}"~{slop}' for slop in range(120)),
    "ranges": " ".join(f"[{a}{b} TO zz]" for a in _LETTERS for b in _LETTERS[:3]),
    "misspelled words": " ".join(f"{a}{b}cdefg~2" for a in _LETTERS for b in _LETTERS[:5]),
    "expressions": " ".join(f"/.*{a}.*{b}.*/" for a in _LETTERS for b in _LETTERS[:3]),
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("attacked") / "index"
    create(path)
    generator = random.Random(1)  # noqa: S311 - reproducible, not secret
    with Index(path) as index:
        for number in range(1_500):
            common = generator.choices(["aa", "bb"], k=200)
            rare = ("".join(generator.choices(_LETTERS, k=8)) for _ in range(50))
            text = " ".join([*common, *rare])
            index.add(Document(f"d{number}", "Title", text, {"kind": f"{number % 7}"}))
        index.add(Document("note", "Note", "the rent is due"))
    return path


@pytest.fixture(scope="module")
def attacked(index: Path) -> Iterator[Served]:
    with served_here(index) as server:
        assert _asked(server) == 1
        yield server


def _asked(server: Served) -> int:
    """The number of hits of a word that one chunk has."""
    answer = server.call(query="rent").json()["result"]
    assert not answer["isError"], answer
    return int(answer["structuredContent"]["totalHits"])


def _attack(server: Served, seconds: float) -> list[float]:
    """The times that others wait for a word, in order, while four clients attack."""
    until = time.monotonic() + seconds
    waits: list[float] = []
    adding = threading.Lock()

    def attack(first: int) -> None:
        queries = cycle([*ATTACKS.values()][first:] + [*ATTACKS.values()][:first])
        while time.monotonic() < until:
            # Whatever the answer is: that there are too many terms, a part, or too late.
            assert server.call(query=next(queries)).status_code == 200

    def ask(_: int) -> None:
        while time.monotonic() < until:
            began = time.monotonic()
            assert _asked(server) == 1
            with adding:
                waits.append(time.monotonic() - began)
            time.sleep(0.05)

    with ThreadPoolExecutor(ATTACKERS + VICTIMS) as clients:
        attacks = [clients.submit(attack, 2 * number) for number in range(ATTACKERS)]
        victims = [clients.submit(ask, number) for number in range(VICTIMS)]
        for client in [*attacks, *victims]:
            client.result()
    return sorted(waits)


@pytest.mark.soak
def test_four_clients_with_slow_queries_keep_nobody_from_being_answered(attacked: Served) -> None:
    waits = _attack(attacked, 6)
    assert len(waits) > 10
    assert waits[-1] < 6


@pytest.mark.soak
def test_others_wait_less_than_a_second_while_four_clients_attack_for_a_minute(
    attacked: Served,
) -> None:
    waits = _attack(attacked, 60)
    assert len(waits) > 100
    assert waits[int(0.99 * len(waits))] < 1


def test_patterns_are_limited_by_the_terms_that_they_are_compared_with(attacked: Served) -> None:
    answer = attacked.call(query=ATTACKS["2,000 patterns"]).json()["result"]
    assert answer["isError"]
    text = answer["content"][0]["text"]
    assert "terms of this index, and 50,000,000 are allowed; use fewer of them" in text
    # The same number of patterns that begin with letters is compared with few terms each.
    beginnings = ATTACKS["2,000 patterns"].replace(" *", " ").removeprefix("*")
    answer = attacked.call(query=" ".join(beginnings.split()[:300])).json()["result"]
    assert not answer["isError"], answer


@pytest.fixture(scope="module")
def hurried(index: Path) -> Iterator[Served]:
    """A server whose calls may take half a second."""
    with served_here(index, "--time-budget", "0.5") as server:
        wait_for(lambda: not server.call(query="rent").json()["result"]["isError"], "Java runs")
        yield server


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Search", {"query": ATTACKS["as many patterns as are allowed"]}),
        pytest.param(
            "Search",
            {"query": ATTACKS["as many patterns as are allowed"], "content": "passages"},
            marks=pytest.mark.soak,
        ),
        pytest.param(
            "Search",
            {"query": ATTACKS["phrases of fifty words"], "facets": ["kind"]},
            marks=pytest.mark.soak,
        ),
        pytest.param(
            "Search", {"query": ATTACKS["a phrase of thousands of words"]}, marks=pytest.mark.soak
        ),
        pytest.param(
            "explain_query",
            {"query": ATTACKS["phrases of fifty words"], "detail": "scores"},
            marks=pytest.mark.soak,
        ),
        ("explain_query", {"query": ATTACKS["as many patterns as are allowed"]}),
    ],
)
def test_no_call_goes_on_after_its_time_is_over(
    hurried: Served, tool: str, arguments: dict[str, Any]
) -> None:
    hurried.call(tool, **arguments)
    # Whatever it answered, a thread that goes on is counted, after a second at most.
    time.sleep(1.2)
    assert hurried.metrics()["mcp_lucene_abandoned_calls"] == 0
    assert _asked(hurried) == 1


FIRST = bearer("f" * 40)
SECOND = bearer("s" * 40)
TWO = f"first:read:{'f' * 40} second:read:{'s' * 40}"
ONE = f"first:read:{'f' * 40}"


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The index of a page that takes minutes to draw, and of one that does not."""
    folder = tmp_path_factory.mktemp("pictures")
    write_slow_and_fast(folder / "files")
    run_idx(["sync", folder / "files", "--ocr", "off", "-i", folder / "index"], folder)
    return folder / "index"


@contextmanager
def showing(index: Path, tokens: str = TWO) -> Iterator[Served]:
    """A server that draws a page for six seconds at most."""
    allowed = {"IDX_ORIGINALS": str(index.with_name("files"))}
    options = ("--time-budget", "6")
    with served_here(index, *options, tokens=tokens, environment=allowed) as server:
        yield server


def _picture(server: Served, name: str, query: str = "", **token: str) -> tuple[int, float]:
    """The status of a picture, and how long it took."""
    began = time.monotonic()
    answer = server.get(f"/api/documents/{name}.pdf/pages/1.png?q={query}", **token)
    return answer.status_code, time.monotonic() - began


@contextmanager
def asking_for_slow_pictures(server: Served) -> Iterator[None]:
    """Ask for 16 slow pictures, until the block ends."""
    with ExitStack() as opened:
        for number in range(16):
            connection = opened.enter_context(server.connection())
            path = f"/api/documents/slow.pdf/pages/1.png?q=word{number}"
            connection.request("GET", path, headers=FIRST)
        time.sleep(1)
        yield


@pytest.mark.soak
def test_slow_pictures_of_one_token_keep_nobody_from_seeing_a_page(pictures: Path) -> None:
    with showing(pictures) as server, asking_for_slow_pictures(server):
        for word in ("river", "rivers", "a"):
            status, seconds = _picture(server, "fast", word, **SECOND)
            assert (status, seconds < 4) == (200, True)


@pytest.mark.soak
def test_slow_pictures_that_nobody_waits_for_are_not_drawn(
    pictures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each is tried, though one before it has failed.
    monkeypatch.setattr("server.pictures.renderer.FAILURE_SECONDS", 0.0, raising=False)
    with showing(pictures, tokens="") as server:
        with asking_for_slow_pictures(server):
            pass
        # Two are given up after a second, and their workers are replaced.
        status, seconds = _picture(server, "fast")
        assert (status, seconds < 10) == (200, True)


@pytest.mark.soak
def test_a_page_that_took_too_long_is_not_tried_again_soon(pictures: Path) -> None:
    with showing(pictures, tokens="") as server:
        status, _ = _picture(server, "slow")
        assert status == 404
        for query in ("", "river"):
            status, seconds = _picture(server, "slow", query)
            assert (status, seconds < 2) == (404, True)


@contextmanager
def running(server: Served, calls: int) -> Iterator[None]:
    """Have calls of the first token run within a block, each of which is answered in the end."""
    with ExitStack() as opened:
        connections = [opened.enter_context(server.connection()) for _ in range(calls)]
        last = [begin_call(connection, **FIRST) for connection in connections]
        server.wait_for_calls(calls, **FIRST)
        yield
        for connection, rest in zip(connections, last, strict=True):
            connection.send(rest)
            assert status_of_answer(connection) == 200


def test_one_token_runs_half_of_the_calls(documents: Path) -> None:
    with served_here(documents, "--max-requests", 4, tokens=TWO) as server:
        with running(server, 2):
            refused = server.call(headers=FIRST, query="text")
            assert refused.status_code == 429
            assert refused.headers["retry-after"] == "1"
            assert server.call(headers=SECOND, query="text").status_code == 200
        assert server.call(headers=FIRST, query="text").status_code == 200


def test_calls_of_one_token_that_wait_keep_no_other_waiting(documents: Path) -> None:
    with (
        served_here(documents, "--max-requests", 4, tokens=TWO) as server,
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
        server.wait_for_calls(4, **FIRST)
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
def test_a_token_that_is_the_only_one_has_everything(documents: Path) -> None:
    with (
        served_here(documents, "--max-requests", 4, tokens=ONE) as server,
        running(server, 4),
    ):
        assert server.call(headers=FIRST, query="text").status_code == 429
