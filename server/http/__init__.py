"""The HTTP server: access control, admission control, sessions and telemetry."""
