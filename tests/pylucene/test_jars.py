"""The jars: what is locked is what is bundled."""

import hashlib
import tomllib
from pathlib import Path

import pytest
from backend import jars
from backend.console import BuildError
from backend.jars import Artifact


def artifact(content: bytes) -> Artifact:
    """An artifact whose locked sha256 is that of the content."""
    return Artifact("org.example", "thing", "1.0", hashlib.sha256(content).hexdigest())


def download(target: Artifact, content: bytes) -> None:
    """Put content where the download of an artifact goes."""
    target.path.parent.mkdir(parents=True, exist_ok=True)
    target.path.write_bytes(content)


def test_every_artifact_is_locked_with_its_hash() -> None:
    locked = jars.locked()
    assert {artifact.name for artifact in locked} >= {"lucene-core", "lucene-analysis-icu", "icu4j"}
    assert all(len(artifact.sha256) == 64 for artifact in locked)


def test_the_lock_file_belongs_to_jgo_toml(pylucene: Path) -> None:
    wanted = tomllib.loads((pylucene / "jgo.toml").read_text())["dependencies"]["coordinates"]
    assert set(wanted) <= {artifact.coordinates for artifact in jars.locked()}


def test_a_jar_with_another_hash_is_refused_and_removed() -> None:
    jar = artifact(b"locked")
    download(jar, b"tampered with")
    with pytest.raises(BuildError, match=r"thing-1\.0\.jar is not the locked file") as caught:
        jars.verify(jar)
    assert jar.sha256 in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not jar.path.exists()


def test_jars_in_the_cache_are_not_downloaded_again() -> None:
    jar = artifact(b"locked")
    download(jar, b"locked")
    jars.ensure(Path("/no/such/python"), [jar])


def test_a_broken_download_is_fetched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    jar = artifact(b"locked")
    download(jar, b"lock")

    def run(command: tuple[str | Path, ...], _failure: str) -> None:
        assert command[-1] == "org.example:thing:1.0"
        assert not jar.path.exists()
        download(jar, b"locked")

    monkeypatch.setattr(jars, "run", run)
    jars.ensure(Path("python"), [jar])
    assert jar.path.read_bytes() == b"locked"
