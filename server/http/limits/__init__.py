"""Limits on connections, requests, sessions, bodies and subscriptions over HTTP."""
