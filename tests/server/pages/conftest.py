"""A server on the sample documents, as the tests of the JSON API have it."""

from tests.server.api.conftest import api, samples

__all__ = ["api", "samples"]
