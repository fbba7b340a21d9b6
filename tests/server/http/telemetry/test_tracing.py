"""Spans are sent where the variables of OpenTelemetry say."""

import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.server.http.served import SECONDS, served

pytestmark = pytest.mark.soak


@contextmanager
def collecting() -> Iterator[tuple[str, list[bytes]]]:
    """A collector on a free port: where it listens, and what it was sent."""
    received: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's
            """Nobody reads it."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.server_port}", received
        finally:
            listening.shutdown()
            thread.join()


def test_spans_are_sent_by_the_end_of_the_server(documents: Path, tmp_path: Path) -> None:
    with collecting() as (endpoint, received):
        variables = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
            "OTEL_SERVICE_NAME": "my-search",
            "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment=test",
        }
        with served(documents, log=tmp_path / "log", environment=variables) as server:
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


def texts(attributes: Iterable[Any]) -> dict[str, str]:
    return {attribute.key: attribute.value.string_value for attribute in attributes}


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


def test_a_collector_that_is_not_there_does_not_keep_the_server(
    documents: Path, tmp_path: Path
) -> None:
    variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    with served(documents, log=tmp_path / "log", environment=variables) as server:
        assert server.call(query="text").status_code == 200
        began = time.monotonic()
        server.process.terminate()
        assert server.process.wait(timeout=SECONDS) == 0
        assert time.monotonic() - began < 20
