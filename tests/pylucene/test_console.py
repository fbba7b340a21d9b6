"""The environment of the programs that the build runs."""

import json
import sys
from pathlib import Path

import pytest
from backend.console import BuildError, run

_PRINT = "import json, os, sys; json.dump(dict(os.environ), open(sys.argv[1], 'w'))"


def test_programs_do_not_obey_what_the_user_has_set_for_other_builds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dropped = ("PYTHONPATH", "CPATH", "PIP_USER", "PIP_TARGET", "PIP_ONLY_BINARY", "PIP_ROOT")
    for name in dropped:
        monkeypatch.setenv(name, "1")
    # Where packages come from is the user's to say.
    monkeypatch.setenv("PIP_INDEX_URL", "file:///packages")
    run((sys.executable, "-c", _PRINT, tmp_path / "seen"), "failed", environ={"CPATH": "/own"})
    seen = json.loads((tmp_path / "seen").read_text())
    assert seen["PIP_INDEX_URL"] == "file:///packages"
    assert {name: seen[name] for name in dropped if name in seen} == {"CPATH": "/own"}


def test_a_program_that_fails_ends_the_build() -> None:
    with pytest.raises(BuildError, match="it did not work"):
        run((sys.executable, "-c", "raise SystemExit(3)"), "it did not work")
