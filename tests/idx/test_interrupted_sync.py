"""A sync that is broken off: at any moment the index is whole, and the next sync goes on."""

import fcntl
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Final

import pytest

from shared import Searcher
from shared.chunking import chunks as chunks_of
from shared.writing.index import create
from tests.conftest import Idx
from tests.idx.conftest import FILES
from tests.idx.contents import chunks, contents
from tests.idx.files import events, ids, make, result
from tests.idx.preparation import index_files
from tests.idx.running import IDX, assert_ends, session, start
from tests.waiting import wait_for

SEED: Final = 4

KILLED_AFTER: Final = {
    step: f"""
import os, signal
import idx.sync.ingestion
from idx.__main__ import main
from shared.writing.index import Index
step = {owner}.{step}
def step_and_end(*arguments):
    step(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)
{owner}.{step} = step_and_end
main()
"""
    for owner, step in (("Index", "commit"), ("idx.sync.ingestion", "save_failures"))
}
"""Programs that end in the middle of what belongs together."""


INTERRUPTED_IN_COMMIT: Final = """
import signal, sys
from idx.__main__ import main
from shared.writing.index import Index
commit, signals = Index.commit, [signal.SIGINT]
def commit_interrupted(index):
    commit(index)
    for number in signals:
        signals.clear()
        signal.raise_signal(number)
    print("The commit has ended.", file=sys.stderr)
Index.commit = commit_interrupted
main()
"""


class Papers:
    """A folder that is changed between the kills; every version of every text is known."""

    def __init__(self, path: Path, files: int) -> None:
        self.path = path
        self.random = random.Random(SEED)  # noqa: S311 - the same moments every time
        self.versions: dict[str, list[list[str | None]]] = {}
        self._version = 0
        self.change(deleted=0, edited=0, added=files)

    def change(self, *, deleted: int, edited: int, added: int) -> None:
        """Delete, edit and add so many files."""
        self._version += 1
        there = sorted(file for file in self.path.rglob("*") if file.is_file())
        chosen = self.random.sample(there, deleted + edited)
        for file in chosen[:deleted]:
            file.unlink()
        for file in chosen[deleted:]:
            self._write(file)
        for _ in range(added):
            number = len(self.versions)
            self._write(self.path / f"{number % 17}" / f"{number}.txt")

    def _write(self, file: Path) -> None:
        file.parent.mkdir(exist_ok=True, parents=True)
        name = str(file.relative_to(self.path))
        is_new = name not in self.versions
        words = f"{name} version {self._version}\n"
        match self.random.randrange(100):
            case 0 | 1:
                words *= self.random.randint(90, 400)
            case 2:
                words = " \n"
            case 3 if is_new:
                # A document that was there would stay, in whichever version it was.
                words = "%PDF-1.7 nothing"
            case _:
                pass
        file.write_text(words)
        self.versions.setdefault(name, []).append(
            [chunk.content for chunk in chunks_of(name, name, words, "keep")]
        )


def known_versions(index: Path, papers: Papers) -> dict[str, int]:
    """The version of each document, every one of which must be there as a whole."""
    found = {}
    for name, of_document in groupby(chunks(index), attrgetter("source_document")):
        listed = [*of_document]
        assert [chunk.chunk_index for chunk in listed] == [*range(1, len(listed) + 1)]
        found[name] = papers.versions[name].index([chunk.content for chunk in listed])
    return found


@pytest.mark.soak
def test_a_sync_killed_at_any_moment_ends_as_an_undisturbed_one(idx: Idx) -> None:
    kills, files = 20, 2_000
    papers = Papers(idx.folder / "papers", files)
    for name in ("killed", "undisturbed"):
        create(idx.folder / name)
    started = time.monotonic()
    assert start(idx.folder, "-i", "undisturbed").wait() == 1
    whole_run = time.monotonic() - started

    versions: dict[str, int] = {}
    met, half_done = 0, 0
    for number in range(kills):
        running = start(idx.folder, "-i", "killed", program=IDX.format(0.2))
        time.sleep(papers.random.uniform(0, whole_run))
        met += running.poll() is None
        if number % 2:
            running.kill()
        else:
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        assert_ends(running.pid)
        before, versions = versions, known_versions(idx.folder / "killed", papers)
        for name in before.keys() & versions.keys():
            assert versions[name] >= before[name]
        current = sum(
            version == len(papers.versions[name]) - 1 for name, version in versions.items()
        )
        half_done += before != versions and current < len(versions)
        papers.change(deleted=files // 33, edited=files // 3, added=files // 33)
    assert met >= kills / 2
    assert half_done >= kills / 7

    for name in ("killed", "undisturbed"):
        # 1 where a file cannot be read that was not known for it.
        assert start(idx.folder, "-i", name).wait() in {0, 1}
    assert contents(idx.folder / "killed") == contents(idx.folder / "undisturbed")
    assert result(idx("sync", "papers", "-i", "killed", "--json").stdout) == {"skipped": files}
    assert not [*(idx.folder / "killed").glob("failures.json.*")]


def test_a_reader_at_work_ends_with_a_killed_sync(idx: Idx, empty_index: Path) -> None:
    make(idx.folder, "papers/")
    (idx.folder / "papers" / "slow.html").write_text("<p>text" * 6_000_000)
    running = start(idx.folder)
    while not any(
        ticks > os.sysconf("SC_CLK_TCK")
        for process, ticks in session(running.pid).items()
        if process != running.pid
    ):
        assert running.poll() is None
        time.sleep(0.1)
    running.kill()
    running.wait()
    assert_ends(running.pid)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends programs with their parent")
def test_a_libreoffice_at_work_ends_with_a_killed_sync(
    empty_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, "papers/", "bin/")
    shutil.copy(FILES / "garden.doc", tmp_path / "papers")
    program = tmp_path / "bin" / "soffice"
    program.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/new; mv {tmp_path}/new {tmp_path}/id\n")
    with program.open("a") as script:
        script.write("exec sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    running = start(tmp_path)
    wait_for((tmp_path / "id").exists)
    running.kill()
    running.wait()
    assert_ends(int((tmp_path / "id").read_text()))


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_what_was_done_before_a_signal_is_committed(
    idx: Idx, empty_index: Path, number: signal.Signals, code: int
) -> None:
    papers = make(idx.folder / "papers", *(f"{number}.txt" for number in range(500)))
    (papers / "0.txt").write_bytes(b"%PDF-1.7 nothing")
    running = start(idx.folder, "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    lines = [running.stdout.readline() for _ in range(200)]
    # As a terminal does: to all processes of the group.
    os.killpg(running.pid, number)
    with running.stdout, running.stderr:
        rest, messages = running.stdout.read(), running.stderr.read()
    assert running.wait() == code
    assert "Traceback" not in messages
    assert_ends(running.pid)
    told = events("".join(lines) + rest)
    done = [event["source_document"] for event in told if event["event"] == "indexed"]
    there = ids(empty_index)
    # Those that were on their way to Lucene are written, too.
    assert 190 < len(done) <= len(there) <= len(done) + 6 < 500
    assert set(done) <= set(there)
    assert "0.txt: is a damaged PDF" in messages
    kept = f"Interrupted: {len(there)} documents committed; run the same command to continue.\n"
    assert messages.endswith(kept)
    assert idx("failures").stdout.splitlines()[-1] == "1 file"
    done_next = result(idx("sync", "papers", "--json").stdout)
    assert done_next == {
        "added": 499 - len(there),
        "skipped": len(there) + 1,
        "chunks": 499 - len(there),
    }


def test_only_what_a_commit_made_durable_is_told_as_kept(idx: Idx, empty_index: Path) -> None:
    make(idx.folder / "papers", "first.txt", "gone.txt")
    index_files(empty_index, "papers")
    (idx.folder / "papers" / "gone.txt").unlink()
    make(idx.folder / "papers", *(f"{number}.txt" for number in range(300)))
    running = start(idx.folder, "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with running.stdout, running.stderr:
        for _ in range(50):
            running.stdout.readline()
        os.killpg(running.pid, signal.SIGINT)
        running.stdout.read()
        messages = running.stderr.read()
    assert running.wait() == 130
    new = len(ids(empty_index)) - 1
    assert 40 < new < 300
    assert messages == (
        f"Interrupted: {new} documents committed, 1 deleted; run the same command to continue.\n"
    )


def test_an_interruption_during_a_commit_waits_for_its_end(idx: Idx, empty_index: Path) -> None:
    make(idx.folder / "papers", "1.txt", "2.txt")
    running = start(idx.folder, program=INTERRUPTED_IN_COMMIT, stderr=subprocess.PIPE)
    with running.stderr:
        messages = running.stderr.read()
    assert running.wait() == 130
    # The second one finds nothing left to commit.
    assert messages.count("The commit has ended.") == 2
    assert "Interrupted: 2 documents committed" in messages
    assert len(ids(empty_index)) == 2


@pytest.mark.soak
def test_ctrl_c_is_not_for_a_sync_whose_parent_ignores_it(
    empty_index: Path, tmp_path: Path
) -> None:
    make(tmp_path / "papers", *(f"{number}.txt" for number in range(3_000)))
    running = start(
        tmp_path,
        "--json",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # As a shell without job control does with what it starts in the background.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    for _ in range(200):
        running.stdout.readline()
    os.killpg(running.pid, signal.SIGINT)
    assert "indexed" in running.stdout.readline()
    running.send_signal(signal.SIGTERM)
    with running.stdout, running.stderr:
        running.stdout.read()
        messages = running.stderr.read()
    assert running.wait() == 143
    assert messages.startswith("Interrupted: ")
    assert 190 < len(ids(empty_index)) < 3_000


def test_a_sync_that_has_committed_nothing_says_so(idx: Idx, empty_index: Path) -> None:
    make(idx.folder, "papers/")
    (idx.folder / "papers" / "slow.html").write_text("<p>text" * 6_000_000)
    running = start(idx.folder, "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with running.stdout, running.stderr:
        running.stdout.readline()
        os.killpg(running.pid, signal.SIGINT)
        messages = running.stderr.read()
    assert running.wait() == 130
    assert messages == "Interrupted: nothing was changed; run the same command to continue.\n"
    assert ids(empty_index) == []


def test_what_was_done_is_committed_when_nobody_reads_the_answer_any_more(
    idx: Idx, empty_index: Path
) -> None:
    make(idx.folder / "papers", *(f"{number}.txt" for number in range(500)))
    running = start(idx.folder, "--json", stdout=subprocess.PIPE)
    fcntl.fcntl(running.stdout, fcntl.F_SETPIPE_SZ, 4_096)
    lines = [running.stdout.readline() for _ in range(100)]
    running.stdout.close()
    assert running.wait() == 1
    assert_ends(running.pid)
    done = [event["source_document"] for event in events("".join(lines[1:]))]
    assert set(done) <= set(ids(empty_index))
    assert len(ids(empty_index)) < 500


@pytest.mark.soak
def test_a_long_document_is_there_as_a_whole_whenever_its_writing_is_interrupted(
    idx: Idx, empty_index: Path
) -> None:
    papers = make(idx.folder / "papers", "a.txt")
    versions = [f"word{number} " * 500_000 for number in range(3)]
    (papers / "long.txt").write_text(versions[0])
    index_files(empty_index, "papers")
    for text, seconds in zip(versions[1:], (0.0, 0.4), strict=True):
        (papers / "a.txt").write_text(text[:5])
        (papers / "long.txt").write_text(text)
        running = start(idx.folder, "--json", stdout=subprocess.PIPE)
        while "a.txt" not in running.stdout.readline():
            assert running.poll() is None
        time.sleep(seconds)
        running.send_signal(signal.SIGINT)
        with running.stdout:
            running.stdout.read()
        # Python that ends gives the signal its default action back.
        assert running.wait() in {0, 130, -signal.SIGINT}
        with Searcher(idx.folder / "lucene-index") as searcher:
            assert searcher.chunk("a.txt-chunk-001").content == text[:5]
            whole = searcher.document_chunks("long.txt")
        assert len({chunk.content.split()[0] for chunk in whole.chunks}) == 1
        assert len(whole.chunks) == whole.total_chunks == 2_381


@pytest.mark.soak
def test_a_kill_between_the_commit_and_the_failures_leaves_both_in_step(idx: Idx) -> None:
    papers = make(idx.folder / "papers", "emptied.txt", "kept.txt")
    (papers / "mended.txt").write_text("%PDF-1.7 nothing")
    create(idx.folder / "undisturbed")
    start(idx.folder, "-i", "undisturbed").wait()
    for step in KILLED_AFTER:
        shutil.copytree(idx.folder / "undisturbed", idx.folder / step)
    (papers / "emptied.txt").write_text("")
    (papers / "mended.txt").write_text("mended")
    (papers / "broken.txt").write_text("%PDF-1.7 nothing")
    assert start(idx.folder, "-i", "undisturbed").wait() == 1
    for step, program in KILLED_AFTER.items():
        killed = start(idx.folder, "-i", step, program=program)
        assert killed.wait() == -signal.SIGKILL
        start(idx.folder, "-i", step).wait()
        assert contents(idx.folder / step) == contents(idx.folder / "undisturbed")
