"""What libraries log is shown without the values that they put in."""

import json
import os
import sys

import pytest

from tests.programs import run

PROGRAM = """
import logging
from server.log import LOG, log_over_http
log_over_http("info", as_json=True)
library = logging.getLogger("some.library")
library.info("not shown")
library.warning("refused %r", "zyxwsecret")
library.warning(f"refused {'zyxwsecret'}")
try:
    raise ValueError("zyxwsecret")
except ValueError:
    library.exception("failed for %s", "zyxwsecret")
LOG.info("call", extra={"client": "c" * 1_000, "token": None})
LOG.debug("not shown")
"""


def test_values_and_words_of_exceptions_are_left_out() -> None:
    done = run(sys.executable, "-c", PROGRAM)
    assert "zyxwsecret" not in done.stderr
    refused, formatted, failed, call = (json.loads(line) for line in done.stderr.splitlines())
    assert refused["event"] == "library"
    assert refused["logger"] == "some.library"
    assert refused["message"] == "refused %r"
    assert formatted["logger"] == "some.library"
    assert "message" not in formatted
    assert formatted["at"] == ["<string>:8 <module>"]
    assert (refused["level"], failed["level"], call["level"]) == ("warning", "error", "info")
    assert failed["error"] == "ValueError"
    assert failed["at"] == ["<string>:10 <module>"]
    assert call["client"] == "c" * 200
    assert "token" not in call


@pytest.mark.parametrize("as_json", [True, False])
def test_a_client_cannot_steer_the_terminal(as_json: bool) -> None:
    name = "caf\u00e9 \u009b2J\u0085\u202e\U000e0041\x1b[2J"
    program = (
        "from server.log import LOG, log_over_http\n"
        f"log_over_http('info', as_json={as_json})\n"
        f"LOG.info('call', extra={{'client': {name!a}}})\n"
    )
    done = run(
        sys.executable, "-c", program, encoding="utf-8", env={**os.environ, "PYTHONUTF8": "1"}
    )
    line = done.stderr.removesuffix("\n")
    assert line.isprintable()
    shown = line if as_json else f'{{"client": {line.partition("client=")[2]}}}'
    assert json.loads(shown)["client"] == name
    assert "café" in line
