"""How the readers of this project are fuzzed, and for how long.

By hypothesis rather than atheris, which has coverage to guide it: what the readers take is
structured, so that strategies that know the structure get further than bytes that are changed at
random, and what fails is shrunk to a line that becomes a test. The examples are the same in each
run of the tests, with more of them in `make soak`. With the variable MCP_LUCENE_FUZZ_SECONDS each
test goes on that long with new ones.
"""

import os
import time
from collections.abc import Callable
from typing import Final

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy

from shared.model.document import Document, Metadata
from tests.programs import PROCESSES

FUZZ_SECONDS: Final = float(os.environ.get("MCP_LUCENE_FUZZ_SECONDS", "0"))

MARKS: Final = [
    pytest.mark.timeout(300 + FUZZ_SECONDS),
    # Of long texts, which hypothesis shows in full before it calls a test.
    pytest.mark.filterwarnings("ignore:Generating overly large repr"),
]
"""What a module of such tests is marked with."""

_MAX_SECONDS: Final = 5.0  # processor time for one example

_EXAMPLES: Final = settings(
    max_examples=150 if PROCESSES in os.environ else 40,
    deadline=None,
    database=None,
    derandomize=True,
    # Nothing is explained of an example, which takes as long again as to find it.
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)

_MORE_EXAMPLES: Final = settings(_EXAMPLES, max_examples=200, derandomize=False)


def fuzz(check: Callable[..., None], **strategies: SearchStrategy[object]) -> None:
    """Call a function with whatever is drawn, until it fails or the time is over."""

    def timed(**drawn: object) -> None:
        start = time.thread_time()
        check(**drawn)
        assert time.thread_time() - start < _MAX_SECONDS

    examples = given(**strategies)
    end = time.monotonic() + FUZZ_SECONDS
    _EXAMPLES(examples(timed))()
    while time.monotonic() < end:
        _MORE_EXAMPLES(examples(timed))()


def check_document(text: str, title: str | None, metadata: Metadata) -> None:
    """Make sure that an index takes what was read."""
    Document("id", title or "title", text, metadata)
