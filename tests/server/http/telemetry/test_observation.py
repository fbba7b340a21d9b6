"""What is told of a server, and to whom spans are sent, but never what it was asked."""

import json
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path

import httpx2
import pytest
import typer
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from shared import Document, create
from tests.conftest import add_documents
from tests.http_servers import listening
from tests.server.http.issuer import Handler
from tests.server.http.served import ACCEPT, SECONDS, Served, bearer, initialize, refused, served

pytestmark = pytest.mark.soak

ASKED = "zyxwsecret"
TOKEN = "token-" + "t" * 40


def test_a_server_is_ready_once_there_is_an_index(index_path: Path) -> None:
    with served(index_path) as server:
        assert server.get("/healthz").text == "ok\n"
        early = server.get("/readyz")
        assert (early.status_code, early.text) == (503, "IndexMissingError\n")
        assert server.metrics()["mcp_lucene_index_readable"] == 0
        assert "mcp_lucene_index_chunks" not in server.metrics()
        create(index_path)
        assert server.get("/readyz").text == "ready\n"
        assert server.metrics()["mcp_lucene_index_readable"] == 1


def test_the_metrics_count_what_happens(empty_index: Path) -> None:
    with served(empty_index) as server:
        before = server.metrics()
        assert before['mcp_lucene_info{version="0.1.0"}'] == 1
        assert before["mcp_lucene_index_chunks"] == before["mcp_lucene_index_documents"] == 0
        assert before["mcp_lucene_index_refreshes_total"] == 1
        add_documents(empty_index, Document("long", "Long", " ".join(["word"] * 700)))
        for _ in range(3):
            assert server.call(query="word").status_code == 200
        server.call(query="word AND", syntax="lucene")
        server.call("get_next_chunk", chunk_id="long-chunk-001")
        server.call("get_next_chunk", chunk_id=ASKED)
        server.call(ASKED)
        initialize(server)
        server.get("/nothing")
        server.get("/healthz", Host="evil.example")
        after = server.metrics()
        for name, value in {
            'tool_calls_total{outcome="ok",tool="Search"}': 3,
            'tool_calls_total{outcome="error",tool="Search"}': 1,
            'tool_calls_total{outcome="ok",tool="get_next_chunk"}': 1,
            'tool_calls_total{outcome="error",tool="get_next_chunk"}': 1,
            'tool_calls_total{outcome="error",tool="other"}': 1,
            'tool_call_seconds_count{tool="Search"}': 4,
            'tool_call_seconds_bucket{le="+Inf",tool="Search"}': 4,
            'http_requests_total{path="other",status="404"}': 1,
            'http_requests_total{path="/healthz",status="421"}': 1,
            "index_refreshes_total": 2,
            "index_documents": 1,
            "index_chunks": 4,
            "sessions": 1,
            "running_requests": 0,
            "open_streams": 0,
        }.items():
            assert after[f"mcp_lucene_{name}"] == value, name
        assert after["mcp_lucene_index_size_bytes"] > before["mcp_lucene_index_size_bytes"] > 100
        assert after['mcp_lucene_tool_call_seconds_sum{tool="Search"}'] > 0
        assert not any(ASKED in name for name in after)


def test_the_metrics_are_documented_and_there_are_no_others(server: Served) -> None:
    server.call(query="text")
    served_names = {name.partition("{")[0] for name in server.metrics()}
    page = (Path(__file__).parents[4] / "docs" / "http.md").read_text()
    documented = set(re.findall(r"^\| `(mcp_lucene_\w+)` \|", page, re.MULTILINE))
    assert documented == {
        re.sub("_(bucket|count|sum)$", "", name)
        for name in served_names
        if not name.startswith("process_")
    }


def test_a_refresh_is_a_newer_commit_and_no_search(empty_index: Path) -> None:
    with served(empty_index) as server:
        for number in range(1, 4):
            add_documents(empty_index, Document(f"{number}", "T", "text"))
            for _ in range(3):
                server.call(query="text")
            assert server.metrics()["mcp_lucene_index_refreshes_total"] == 1 + number


def talk(server: Served) -> None:
    """Send the secret in every place where a client can put something."""
    own = bearer(TOKEN)
    server.call(headers=own, query=f"{ASKED} text")
    server.call(headers=own, query=f"{ASKED} AND", syntax="lucene")
    server.call("get_next_chunk", headers=own, chunk_id=ASKED)
    server.call("Search", headers=own, **{ASKED: ASKED})
    server.call(ASKED, headers=own, query="x")
    server.call(headers=bearer(ASKED), query="x")
    server.call(headers=own | {"Mcp-Name": ASKED}, query="x")
    server.get(f"/mcp?query={ASKED}", **own)
    server.get(f"/{ASKED}")
    server.get("/healthz", Host=ASKED)
    server.get("/healthz", Origin=f"https://{ASKED}")
    server.get("/mcp", **own, **{"Mcp-Session-Id": ASKED})
    server.get("/healthz", **{"User-Agent": ASKED, "Cookie": ASKED})
    with server.raw() as connection:
        connection.sendall(f"{ASKED} / {ASKED}\r\n\r\n".encode())
        connection.recv(1_000)
    initialize(server, version=ASKED, **own)


@pytest.mark.parametrize("level", ["debug", "info"])
def test_logs_hold_neither_queries_nor_texts_nor_tokens(
    empty_index: Path, tmp_path: Path, level: str
) -> None:
    add_documents(empty_index, Document("a", f"Title {ASKED}", f"text {ASKED}"))
    options = ["--json-logs", "--log-level", level]
    tokens = f"alice:read:{TOKEN}"
    with served(empty_index, *options, log=tmp_path / "log", tokens=tokens) as server:
        talk(server)
    lines = [json.loads(line) for line in server.logged().splitlines()]
    assert ASKED not in server.logged()
    assert TOKEN not in server.logged()
    assert {"time", "level", "event"} <= set.intersection(*(set(line) for line in lines))
    assert (lines[0]["event"], lines[-1]["event"]) == ("listening", "stopped")
    calls = [line for line in lines if line["event"] == "call"]
    assert [(call["tool"], call["outcome"]) for call in calls] == [
        ("Search", "ok"),
        ("Search", "error"),
        ("get_next_chunk", "error"),
        ("Search", "error"),
        ("other", "error"),
    ]
    assert {(call["client"], call["token"]) for call in calls} == {("raw-client", "alice")}
    assert all(0 < call["seconds"] < 100 for call in calls)
    statuses = [line["status"] for line in lines if line["event"] == "request"]
    assert {401, 404, 421, 403} <= set(statuses)
    assert (200 in statuses) is (level == "debug")


def test_a_log_of_errors_only_tells_the_address(documents: Path, tmp_path: Path) -> None:
    options = ["--json-logs", "--log-level", "error"]
    with served(documents, *options, log=tmp_path / "log") as server:
        assert server.get("/healthz").status_code == 200
    (line,) = map(json.loads, server.logged().splitlines())
    assert (line["level"], line["event"], line["url"]) == ("info", "listening", server.url)


def test_a_log_for_people_is_one_line_for_each_event(documents: Path) -> None:
    with served(documents) as server:
        server.call(query="text")
        first, call, *_ = server.logged().splitlines()
    assert first == f"Listening on {server.url}"
    assert " INFO call tool=Search outcome=ok seconds=" in call
    assert call.endswith(" client=raw-client")


def test_a_session_of_before_has_its_token_in_the_log(documents: Path) -> None:
    own = bearer(TOKEN)
    with served(documents, tokens=f"alice:read:{TOKEN}") as server:
        session = {"Mcp-Session-Id": initialize(server, **own).headers["mcp-session-id"]}
        call = {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "Search", "arguments": {"query": "text"}},
        }
        httpx2.post(server.url, json=call, headers=ACCEPT | own | session, timeout=SECONDS)
        assert "client=old-client token=alice" in server.logged()


def test_an_unknown_level_is_wrong_usage(documents: Path) -> None:
    with pytest.raises(typer.BadParameter, match="'loud' is not one of"):
        refused("--http", "--log-level", "loud", index=documents)


@contextmanager
def collecting() -> Iterator[tuple[str, list[bytes]]]:
    """A collector on a free port: where it listens, and what it was sent."""
    received: list[bytes] = []

    class Collector(Handler):
        def do_POST(self) -> None:  # noqa: N802 - the library's name
            received.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

    with listening(ThreadingHTTPServer(("127.0.0.1", 0), Collector)) as server:
        yield f"http://127.0.0.1:{server.server_port}", received


def test_spans_are_sent_by_the_end_of_the_server(documents: Path) -> None:
    with collecting() as (endpoint, received):
        variables = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
            "OTEL_SERVICE_NAME": "my-search",
            "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment=test",
        }
        with served(documents, environment=variables) as server:
            assert server.call(query="zyxwsecret").status_code == 200
            assert server.call("get_next_chunk", chunk_id="none").status_code == 200
    spans = {}
    for body in received:
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            attributes = {
                item.key: item.value.string_value for item in resource.resource.attributes
            }
            assert attributes["service.name"] == "my-search"
            assert attributes["deployment.environment"] == "test"
            for scope in resource.scope_spans:
                spans.update({span.name: span for span in scope.spans})
    assert {"tools/call Search", "tools/call get_next_chunk"} <= set(spans)
    failed = {
        item.key: item.value.string_value for item in spans["tools/call get_next_chunk"].attributes
    }
    assert failed["error.type"] == "tool_error"
    assert not any(b"zyxwsecret" in body for body in received)


WITHOUT_THE_EXTRA = (
    "import sys; sys.modules['opentelemetry.sdk'] = None;from server.__main__ import main; main()"
)


def test_without_the_extra_there_is_a_warning_and_a_server(documents: Path, tmp_path: Path) -> None:
    program = (sys.executable, "-c", WITHOUT_THE_EXTRA)
    variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    log = tmp_path / "log"
    with served(documents, log=log, program=program, environment=variables) as server:
        assert server.call(query="text").status_code == 200
        assert "WARNING no_telemetry" in server.logged()
        assert "sending spans needs the extra" in server.logged()


def test_a_collector_that_is_not_there_does_not_keep_the_server(documents: Path) -> None:
    variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    with served(documents, environment=variables) as server:
        assert server.call(query="text").status_code == 200
        began = time.monotonic()
        server.process.terminate()
        assert server.process.wait(timeout=SECONDS) == 0
        assert time.monotonic() - began < 20
