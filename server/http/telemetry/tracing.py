"""Export of the OpenTelemetry spans that the SDK creates for each message."""

import os
import threading
from collections.abc import Callable
from typing import Final

from server.http.telemetry.logs import LOG
from shared.errors import ExtraMissingError
from shared.version import software_version

_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
"""Variables of the OpenTelemetry specification that name the endpoint for spans."""

_FLUSH_TIMEOUT_SECONDS: Final = 3.0
"""Maximum time to export the last spans, in seconds."""


def start_tracing() -> Callable[[], None]:
    """Export spans by OTLP over HTTP, if an environment variable names an endpoint.

    Other variables of OpenTelemetry, such as ``OTEL_SERVICE_NAME``, apply as far as its SDK reads
    them by itself. Without the extra ``telemetry`` a warning is logged and no spans are exported.

    Returns:
        A function that exports the remaining spans and stops the exporter.
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
        # If the endpoint does not respond, the exporter retries for longer than shutdown may take.
        ending = threading.Thread(target=provider.shutdown, daemon=True)
        ending.start()
        ending.join(_FLUSH_TIMEOUT_SECONDS)

    return end


def _nothing() -> None:
    """Do nothing, since there are no spans to export."""
