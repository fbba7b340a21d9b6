"""What libraries log is shown without the values that they put in."""

import json
import subprocess
import sys

PROGRAM = """
import logging
from server.http.logs import LOG, log_to_stderr
log_to_stderr("info", as_json=True)
library = logging.getLogger("some.library")
library.info("not shown")
library.warning("refused %r", "zyxwsecret")
try:
    raise ValueError("zyxwsecret")
except ValueError:
    library.exception("failed for %s", "zyxwsecret")
LOG.info("call", extra={"client": "c" * 1_000, "token": None})
LOG.debug("not shown")
"""


def test_values_and_words_of_exceptions_are_left_out() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    assert "zyxwsecret" not in done.stderr
    refused, failed, call = (json.loads(line) for line in done.stderr.splitlines())
    assert refused["event"] == "library"
    assert refused["logger"] == "some.library"
    assert refused["message"] == "refused %r"
    assert (refused["level"], failed["level"], call["level"]) == ("warning", "error", "info")
    assert failed["error"] == "ValueError"
    assert failed["at"] == ["<string>:9 <module>"]
    assert call["client"] == "c" * 200
    assert "token" not in call
