"""Runs of the programs are forked, which saves a third of the time of the tests."""

import os

import pytest

from tests.fork_server import fork_server
from tests.systems import SLOW

pytestmark = pytest.mark.skipif(
    not hasattr(os, "fork") or SLOW in os.environ, reason="here each run starts from scratch"
)


def test_also_after_a_test_of_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    assert fork_server("idx", os.environ)


def test_but_not_where_python_starts_in_another_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    assert not fork_server("idx", os.environ)
