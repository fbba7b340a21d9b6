"""A watch that starts at each login: what is installed, what it runs, what is said of it."""

import os
import plistlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from contextlib import chdir
from pathlib import Path

import pytest
from lxml import etree

from idx.commands.doctor import watching
from idx.service import Service, ServiceError
from shared import Searcher
from tests.conftest import Idx
from tests.idx.files import make
from tests.programs import Started, run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="systemd is of Linux")


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a control program of the system was called with, in a session without systemd."""
    folder, log = tmp_path / "programs", tmp_path / "calls"
    folder.mkdir()
    program = folder / "systemctl"
    program.write_text(
        f'#!/bin/sh\necho "$@" >> "{log}"\n'
        f'case "$*" in *is-active*) test -e "{tmp_path}/runs";;\n'
        f'*restart*) test ! -e "{tmp_path}/refuses" || {{ echo "no bus" >&2; exit 1; }};; esac\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return log


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = make(tmp_path / 'doc\'s "100 %" $HOME')
    (folder / "a.txt").write_text("some text")
    return folder


def words(line: str) -> list[str]:
    """The words of a line of a unit, as systemd reads what this project writes."""
    plain = line.partition("=")[2].replace("$$", "$").replace("%%", "%")
    return shlex.split(plain)


@pytest.mark.soak
def test_the_installed_watch_is_the_one_that_was_asked_for(
    idx: Idx, log: Path, documents: Path, tmp_path: Path
) -> None:
    idx.setenv("IDX_MAX_SIZE", "7")
    idx.setenv("IDX_ANSWER_API_KEY", "secret")
    told = idx("watch", documents, "--exclude", "*.tmp", "--install").stderr
    assert "IDX_ANSWER_API_KEY would be readable" in told
    file = Service(tmp_path / "lucene-index").file
    assert str(file) in told
    text = file.read_text()
    assert "secret" not in text
    if verify := shutil.which("systemd-analyze"):
        checked = run(verify, "verify", "--user", file, check=False)
        assert file.name not in checked.stderr, checked.stderr
    assert [line.split()[1] for line in log.read_text().splitlines()] == [
        *("daemon-reload", "enable", "restart")
    ]
    lines = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    settings = dict(
        words(line)[0].split("=", 1) for line in text.splitlines() if line.startswith("Environment")
    )
    assert settings["IDX_MAX_SIZE"] == "7"
    command = words(f"ExecStart={lines['ExecStart']}")
    watched = Started(
        *command,
        cwd=lines["WorkingDirectory"],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
        | {"XDG_STATE_HOME": os.environ["XDG_STATE_HOME"]}
        | settings,
    )
    with watched:
        while "Watching 1 folder" not in watched.stderr.readline():
            assert watched.poll() is None
        watched.send_signal(signal.SIGTERM)
    with Searcher(tmp_path / "lucene-index") as searcher:
        assert searcher.search("text").totalHits == 1
    since = Service(tmp_path / "lucene-index").seconds_since_sync()
    assert since is not None
    assert since < 600


def test_doctor_says_whether_it_runs_and_when_all_was_equal(
    idx: Idx, log: Path, documents: Path, tmp_path: Path
) -> None:
    assert not list(watching(tmp_path / "lucene-index"))
    idx("watch", documents, "--install")
    (found,) = watching(tmp_path / "lucene-index")
    assert found.status == "problem"
    assert re.search("does not run.*last sync: none yet; start it again", found.message)
    (tmp_path / "runs").touch()
    service = Service(tmp_path / "lucene-index")
    service.note_sync()
    (mark,) = (tmp_path / "state" / "mcp-lucene").iterdir()
    os.utime(mark, (0, time.time() - 300))
    idx("sync", documents)
    told = idx("doctor").stdout
    assert re.search("ok +Watch +runs by.*last sync: 5 minutes ago", told)
    idx("watch", "--uninstall")
    assert not service.file.exists()
    assert "disable --now" in log.read_text()
    assert "No watch of" in idx("watch", "--uninstall", code=1).stderr


def test_what_the_system_refuses_is_said(
    idx: Idx, log: Path, documents: Path, tmp_path: Path
) -> None:
    file = Service(tmp_path / "lucene-index").file
    (tmp_path / "refuses").touch()
    told = idx("watch", documents, "--install", code=1).stderr
    assert "systemctl --user restart" in told
    assert "failed: no bus" in told
    assert not file.exists()
    (tmp_path / "refuses").unlink()
    idx("watch", documents, "--install")
    before = file.read_bytes()
    (tmp_path / "refuses").touch()
    idx("watch", documents, "--exclude", "*.tmp", "--install", code=1)
    assert file.read_bytes() == before
    idx.setenv("PATH", "/nowhere")
    told = idx("watch", documents, "--install", code=1).stderr
    assert "systemctl is not there" in told
    told = idx("watch", "--uninstall", code=1).stderr
    assert "systemctl is not there" in told
    assert not file.exists()
    assert log.exists()


def test_no_password_is_written_and_nobody_else_reads_the_rest(
    idx: Idx, log: Path, documents: Path, tmp_path: Path
) -> None:
    file = Service(tmp_path / "lucene-index").file
    for password in (["--pdf-password", "secret"], ["--pdf-password=secret"]):
        told = idx("watch", documents, *password, "--install", code=2).stderr
        assert "--pdf-password would be readable" in told
    assert not file.exists()
    assert not log.exists()
    idx("watch", documents, "--install")
    assert file.stat().st_mode & 0o077 == 0


@pytest.mark.usefixtures("log")
def test_each_name_of_an_index_means_its_service(idx: Idx, documents: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    idx("watch", ".", "--install", "-i", "../lucene-index", folder=documents)
    assert "Removed" in idx("watch", "--uninstall", "-i", tmp_path / "link/lucene-index").stderr


@pytest.mark.usefixtures("log")
def test_a_folder_that_would_add_lines_to_the_unit_is_refused(tmp_path: Path) -> None:
    folder = make(tmp_path / "a\nExecStartPre=touch b")
    with chdir(folder), pytest.raises(ServiceError, match="go to another"):
        Service(tmp_path / "index").install(["watch"], {})


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_the_files_of_other_systems_hold_the_command(
    tmp_path: Path, documents: Path, system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", _programs(tmp_path / "bin"))
    service = Service(tmp_path / "index", system)
    with chdir(documents):
        service.install(["watch", str(documents)], {"IDX_MAX_SIZE": "<7>"})
    content = service.file.read_bytes()
    if system == "darwin":
        read = plistlib.loads(content)
        assert read["ProgramArguments"][-2:] == ["watch", str(documents)]
        assert read["EnvironmentVariables"] == {"IDX_MAX_SIZE": "<7>"}
        assert read["WorkingDirectory"] == str(documents)
    else:
        tree = etree.fromstring(content)
        texts = {each.tag.partition("}")[2]: each.text for each in tree.iter()}
        assert 'set "IDX_MAX_SIZE=<7>"' in str(texts["Arguments"])
        assert subprocess.list2cmdline([str(documents)]) in str(texts["Arguments"])
        assert texts["WorkingDirectory"] == str(documents)
    assert service.uninstall()
    assert not service.file.exists()


def _programs(folder: Path) -> str:
    folder.mkdir()
    for name in ("launchctl", "schtasks"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    return str(folder)
