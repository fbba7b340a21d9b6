"""Spans of OpenTelemetry, which the SDK makes of each message, sent where the variables say."""

import os
import threading
from collections.abc import Callable
from typing import Final

from server.http.telemetry.logs import LOG
from shared.errors import ExtraMissingError
from shared.version import software_version

_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
"""Variables of the OpenTelemetry specification that say where spans are sent."""

_SECONDS_TO_END: Final = 3.0
"""How long the last spans may take."""


def start_tracing() -> Callable[[], None]:
    """Have spans sent by OTLP over HTTP, if a variable of the environment says where.

    Other variables of OpenTelemetry hold, too, such as ``OTEL_SERVICE_NAME``, as far as its SDK
    reads them by itself. Without the extra ``telemetry`` there is a warning and no spans.

    Returns:
        What sends the spans that are left, and ends it.
    """
    if not any(os.environ.get(name) for name in _ENDPOINTS):
        return _nothing
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        missing = ExtraMissingError("sending spans", "telemetry", error.name or "opentelemetry")
        LOG.warning("no_telemetry", extra={"reason": str(missing)})
        return _nothing
    service = {SERVICE_NAME: os.environ.get("OTEL_SERVICE_NAME") or "mcp-lucene"}
    resource = Resource.create({**service, SERVICE_VERSION: software_version()})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)

    def end() -> None:
        # Where nobody takes the spans, their exporter tries for longer than a server may stop.
        ending = threading.Thread(target=provider.shutdown, daemon=True)
        ending.start()
        ending.join(_SECONDS_TO_END)

    return end


def _nothing() -> None:
    """There are no spans to send."""
