"""The file of a wheel, the same from the same content, and the jars in it, which are locked."""

import base64
import csv
import hashlib
import os
import time
import tomllib
import zipfile
from pathlib import Path

import pytest
from backend import archive, jars
from backend.console import BuildError
from backend.jars import Artifact

_RECORD = "thing-1.dist-info/RECORD"


def written(folder: Path, content: Path) -> Path:
    """A wheel of a file, a module and metadata."""
    folder.mkdir()
    files: dict[str, Path | bytes] = {
        "thing-1.dist-info/WHEEL": b"Wheel-Version: 1.0\n",
        "thing/__init__.py": content,
        "thing/module.abi3.so": b"\x7fELF",
    }
    archive.write_wheel(folder / "thing.whl", files, _RECORD)
    return folder / "thing.whl"


@pytest.fixture
def content(tmp_path: Path) -> Path:
    """A file to pack."""
    path = tmp_path / "__init__.py"
    path.write_text("VERSION = 1\n")
    return path


def test_it_is_the_same_every_time(content: Path, tmp_path: Path) -> None:
    first = written(tmp_path / "first", content)
    os.utime(content, (1, 1))
    content.chmod(0o600)
    assert written(tmp_path / "second", content).read_bytes() == first.read_bytes()


def test_its_list_names_each_file_with_its_hash(content: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(written(tmp_path / "out", content)) as wheel:
        rows = list(csv.reader(wheel.read(_RECORD).decode().splitlines()))
        assert [row[0] for row in rows] == wheel.namelist()
        assert rows[-1] == [_RECORD, "", ""]
        for name, digest, size in rows[:-1]:
            found = wheel.read(name)
            expected = base64.urlsafe_b64encode(hashlib.sha256(found).digest()).decode()
            assert digest == f"sha256={expected.rstrip('=')}"
            assert int(size) == len(found)


def test_modules_can_be_executed_and_other_files_not(content: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(written(tmp_path / "out", content)) as wheel:
        modes = {entry.filename: entry.external_attr >> 16 for entry in wheel.infolist()}
    assert oct(modes.pop("thing/module.abi3.so")) == "0o100755"
    assert {oct(mode) for mode in modes.values()} == {"0o100644"}


@pytest.mark.parametrize(
    ("given", "seconds"), [("", 315_532_800), ("0", 315_532_800), ("1700000000", 1_700_000_000)]
)
def test_files_have_the_time_that_is_asked_for(
    content: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, seconds: int
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", given)
    with zipfile.ZipFile(written(tmp_path / "out", content)) as wheel:
        assert {entry.date_time for entry in wheel.infolist()} == {time.gmtime(seconds)[:6]}


@pytest.mark.parametrize("given", ["now", "-1", "99999999999"])
def test_a_time_that_is_none_is_named(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", given)
    with pytest.raises(BuildError, match=f"SOURCE_DATE_EPOCH='{given}' is not a number of seconds"):
        archive.epoch()


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
