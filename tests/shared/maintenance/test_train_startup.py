import subprocess
import sys
from pathlib import Path

import pytest

from shared.errors import JavaStartError
from shared.java.vm import OPTIONS_VARIABLE
from shared.maintenance import train_startup


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for the cache other than that of this environment."""
    cache = tmp_path / "share" / "lucene-new.aot"
    monkeypatch.setattr(train_startup, "path", lambda: cache)
    return cache


@pytest.mark.soak
def test_training_leaves_a_cache_that_java_accepts_in_place_of_older_ones(
    elsewhere: Path, empty_index: Path
) -> None:
    elsewhere.parent.mkdir()
    (elsewhere.parent / "lucene-old.aot").touch()
    assert train_startup.train() == elsewhere
    assert [file.name for file in elsewhere.parent.iterdir()] == ["lucene-new.aot"]
    script = (
        "import sys; from shared import Searcher; from shared.java import vm\n"
        # With this mode Java refuses to start on a cache that it cannot use.
        "vm.start('command', f'-XX:AOTCache={sys.argv[1]}', '-XX:AOTMode=on')\n"
        "print(Searcher(sys.argv[2]).search('x').totalHits)"
    )
    for cache, code in ((elsewhere, 0), (elsewhere.with_name("missing.aot"), 1)):
        done = subprocess.run(
            [sys.executable, "-c", script, cache, empty_index], capture_output=True, check=False
        )
        assert done.returncode == code


def test_a_training_that_takes_too_long_is_ended(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(train_startup, "TRAINING_TIMEOUT_SECONDS", 0.01)
    with pytest.raises(JavaStartError, match=r"took longer than 0\.01 seconds"):
        train_startup.train()
    assert list(elsewhere.parent.iterdir()) == []


def test_a_training_that_fails_says_why_and_keeps_the_old_cache(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere.parent.mkdir()
    elsewhere.write_text("old")
    monkeypatch.setenv(OPTIONS_VARIABLE, "-XX:NoSuchOption")
    with pytest.raises(JavaStartError, match="NoSuchOption"):
        train_startup.train()
    assert elsewhere.read_text() == "old"
    assert [file.name for file in elsewhere.parent.iterdir()] == [elsewhere.name]
