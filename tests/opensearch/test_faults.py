"""Faults: writers and nodes that are killed or stopped, on three nodes."""

import contextlib
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared import Document, Index, McpLuceneError, Searcher
from shared.errors import ClusterUnreachableError
from tests.opensearch.conftest import store_of, write
from tests.opensearch.node import Node, free_port
from tests.opensearch.test_commands import torn
from tests.programs import PROGRAMS

pytestmark = [pytest.mark.opensearch, pytest.mark.soak]

KILLS = 50
BUDGET = 100.0
"""Seconds in which a call has an answer or an error: attempts and pauses of a connection."""

WRITING = """
import sys
from itertools import count
from shared import Document, Index
print("ready", flush=True)
for number in count(1):
    with Index(sys.argv[1]) as index:
        index.add(Document("d", "D", " ".join([f"version{number}"] * 600)))
"""

Nodes = list[Node]


@pytest.fixture
def nodes(opensearch_home: Path, tmp_path: Path) -> Iterator[Nodes]:
    ports = [free_port() for _ in range(3)]
    started = [
        Node(opensearch_home, tmp_path / f"node{number}", f"node{number}", ports, port).start()
        for number, port in enumerate(ports)
    ]
    try:
        for node in started:
            node.wait(nodes=3)
        yield started
    finally:
        for node in started:
            node.send(signal.SIGCONT)
            node.stop()


def manager(nodes: Nodes) -> Node:
    name = nodes[0].get("/_cat/cluster_manager?format=json")[0]["node"]
    return next(node for node in nodes if node.name == name)


def test_a_writer_that_is_killed_leaves_whole_documents(node: Node) -> None:
    address = f"{node.address}/killed"
    write(address, d=" ".join(["version0"] * 600))
    chance = random.Random(7)  # noqa: S311 - no secret
    with Searcher(address) as searcher:
        for _ in range(KILLS):
            with subprocess.Popen(
                [sys.executable, "-c", WRITING, address], stdout=subprocess.PIPE
            ) as process:
                assert process.stdout
                process.stdout.readline()
                time.sleep(chance.uniform(0.5, 1.5))
                process.kill()
            assert list(torn(searcher, ("d",))) == []
    write(address, d=" ".join(["version1000"] * 600))
    state, _ = store_of(address).state()
    assert state.open, "some were killed between two requests"
    with Searcher(address) as searcher:
        assert list(torn(searcher, ("d",))) == []
        assert searcher.search("version1000").totalHits == 3


@pytest.mark.parametrize("victim", ["manager", "data"])
def test_nothing_that_was_acknowledged_is_lost_with_a_node(nodes: Nodes, victim: str) -> None:
    killed = manager(nodes)
    if victim == "data":
        killed = next(node for node in nodes if node is not killed)
    left = next(node for node in nodes if node is not killed)
    address = f"{left.address}/lost"
    write(address, first="word")
    left.wait(nodes=3)
    written, failed, is_over = ["first"], list[object](), threading.Event()

    def write_more() -> None:
        number = 0
        while not is_over.is_set():
            number += 1
            with contextlib.suppress(McpLuceneError), Index(address) as index:
                index.add(Document(f"d{number}", "D", f"word number {number}"))
                index.commit()
                written.append(f"d{number}")

    def search() -> None:
        with Searcher(address) as searcher:
            while not is_over.is_set():
                begun, known = time.monotonic(), len(written)
                try:
                    answer = searcher.search("word", limit=100)
                    if answer.totalHits < known and not answer.partial:
                        failed.append((answer.totalHits, known))
                except McpLuceneError as error:
                    failed.append(None if isinstance(error, ClusterUnreachableError) else error)
                assert time.monotonic() - begun < BUDGET

    threads = [threading.Thread(target=work) for work in (write_more, search)]
    for thread in threads:
        thread.start()
    time.sleep(3)
    killed.kill()
    time.sleep(12)
    is_over.set()
    for thread in threads:
        thread.join()
    left.wait(nodes=2)
    assert [problem for problem in failed if problem] == []
    with Searcher(address) as searcher:
        found = [of.source_document for of in searcher.documents().documents]
    assert set(written) <= set(found)
    assert len(found) == len(set(found))
    killed.start().wait(nodes=3)
    with Searcher(f"{killed.address}/lost") as searcher:
        assert set(written) <= {of.source_document for of in searcher.documents().documents}


def test_the_others_are_asked_when_the_first_node_is_killed(nodes: Nodes, tmp_path: Path) -> None:
    hosts = ",".join(f"127.0.0.1:{node.port}" for node in nodes)
    address = f"opensearch://{hosts}/several"
    papers = tmp_path / "papers"
    papers.mkdir()
    for number in range(1500):
        (papers / f"{number}.txt").write_text(f"word{number} of a paper")
    write(address, first="lighthouse")
    nodes[1].wait(nodes=3)
    command = [str(PROGRAMS / "idx"), "sync", "-i", address, str(papers)]
    with Searcher(address) as searcher, subprocess.Popen(command) as sync:
        time.sleep(4)
        assert sync.poll() is None, "the sync was over before the node was killed"
        nodes[0].kill()
        slowest = 0.0
        while sync.poll() is None:
            begun = time.monotonic()
            assert searcher.search("lighthouse").totalHits == 1
            slowest = max(slowest, time.monotonic() - begun)
        assert sync.returncode == 0
        assert slowest < BUDGET / 4
        assert searcher.documents().total_documents == 1501
        assert searcher.search("paper").totalHits == 1500


def test_a_node_that_starts_again_shows_nothing_of_an_open_batch(
    opensearch_home: Path, tmp_path: Path
) -> None:
    """What it had not refreshed, it shows from then on."""
    with contextlib.closing(Node(opensearch_home, tmp_path / "node").start().wait()) as node:
        address = f"{node.address}/restarted"
        write(address, d="version0 " * 600)
        with Index(address) as index, Searcher(address) as searcher:
            index.add(Document("d", "D", "version1 " * 600))
            node.kill()
            node.start().wait()
            assert list(torn(searcher, ("d",))) == []
            assert searcher.search("version0").totalHits == 3
            index.commit()
            assert list(torn(searcher, ("d",))) == []
            assert searcher.search("version1").totalHits == 3


def test_a_node_that_stands_still_costs_an_answer_or_one_error_in_time(nodes: Nodes) -> None:
    stopped = next(node for node in nodes if node is not manager(nodes))
    others = [node for node in nodes if node is not stopped]
    address = f"{others[0].address}/still"
    write(address, d="word")
    stopped.send(signal.SIGSTOP)
    try:
        with Searcher(address) as searcher:
            for _ in range(5):
                begun = time.monotonic()
                with contextlib.suppress(ClusterUnreachableError):
                    answer = searcher.search("word")
                    assert answer.totalHits == 1 or answer.partial
                assert time.monotonic() - begun < BUDGET
    finally:
        stopped.send(signal.SIGCONT)


def test_a_full_disk_is_named_and_nothing_is_lost(node: Node) -> None:
    address = f"{node.address}/full"
    write(address, d="word")
    block = {"index.blocks.read_only_allow_delete": True}
    node.request("PUT", "/full/_settings", block)
    with pytest.raises(McpLuceneError, match="too full"), Index(address) as index:
        index.add(Document("e", "E", "word"))
    node.request("PUT", "/full/_settings", dict.fromkeys(block, None))
    write(address, e="word")
    with Searcher(address) as searcher:
        assert searcher.search("word").totalHits == 2
