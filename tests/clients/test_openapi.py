"""Schemathesis, which makes requests of all kinds from a description of an API."""

import re

import pytest

from tests.clients.conftest import Run
from tests.server.http.served import Served

pytestmark = [pytest.mark.clients, pytest.mark.timeout(1_200)]


def test_every_answer_of_the_api_is_a_documented_one(schemathesis: Run, server: Served) -> None:
    told = schemathesis(
        *(f"{server.base}/api/openapi.json", "--checks", "all", "--continue-on-failure"),
        *("--phases", "coverage,fuzzing,stateful", "--max-examples", "130", "--seed", "1"),
    )
    cases = re.search(r"(\d+) generated", told)
    assert cases, told
    assert int(cases[1]) >= 2_000
