"""Files and folders that are replaced while they are indexed lead nowhere else."""

import os
import random
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from idx.errors import SourceFileError
from idx.extraction.types import ExtractionOptions
from idx.extraction.worker import hash_file, read_file
from idx.sync.plan import single_file
from tests.conftest import Idx
from tests.idx.files import events, ids, make, result
from tests.idx.running import IDX, start
from tests.idx.swaps import (
    A_LINK,
    MARKER,
    REASONS,
    Swap,
    assert_nothing_leaked,
    prepare,
    put,
    put_back,
)
from tests.idx.watched import Watch
from tests.programs import Started

SECONDS: Final = 200  # how long a sync may take on a machine that is busy

PROGRAM: Final = IDX.format(60)


def with_slow_file(papers: Path) -> None:
    """A file that comes first, and is read for a while, but has hardly a word to be indexed."""
    make(papers).joinpath("a.html").write_text(f"{'<p></p>' * 400_000}text")


def planned(folder: Path, *arguments: object) -> Started:
    """A sync that has listed everything and begun to read the first file."""
    running = start(folder, "--json", *arguments, program=PROGRAM, stdout=subprocess.PIPE)
    (plan,) = events(running.stdout.readline())
    assert plan["event"] == "planned"
    return running


def reasons(running: Started) -> dict[str, str]:
    """Why files were not indexed, once a sync has ended."""
    told, _ = running.communicate(timeout=SECONDS)
    assert running.returncode in (0, 1)
    return {
        event["source_document"]: event["reason"]
        for event in events(told)
        if event["event"] == "notindexed"
    }


def test_what_is_swapped_after_the_plan_leads_nowhere(empty_index: Path, tmp_path: Path) -> None:
    outside, victims = prepare(tmp_path, 210)
    with_slow_file(tmp_path / "papers")
    running = planned(tmp_path)
    for swap, place in victims:
        put(swap, place, outside)
    assert reasons(running) == {
        f"{place.name}/inner/file.txt": REASONS.get(swap.name, A_LINK) for swap, place in victims
    }
    assert ids(empty_index) == ["a.html"]
    assert_nothing_leaked(empty_index)


@pytest.mark.parametrize("level", ["root", "parent"])
def test_a_folder_that_is_swapped_after_the_plan_is_not_read_from(
    empty_index: Path, tmp_path: Path, level: str
) -> None:
    home = tmp_path / "home"
    _, victims = prepare(home, 20)
    with_slow_file(home / "papers")
    elsewhere = tmp_path / "elsewhere"
    for _, place in victims:
        make(elsewhere / "papers" / place.name / "inner").joinpath("file.txt").write_text(MARKER)
    running = planned(home, "--index-path", empty_index)
    if level == "root":
        (home / "papers").rename(home / "papers.old")
        (home / "papers").symlink_to(elsewhere / "papers")
    else:
        home.rename(tmp_path / "home.old")
        home.symlink_to(elsewhere)
    found = reasons(running)
    # The reader may not even have begun.
    found.pop("a.html", None)
    assert set(found) == {f"{place.name}/inner/file.txt" for _, place in victims}
    replaced = f"cannot be read: the folder {home / 'papers'} was replaced by another one"
    assert set(found.values()) == {replaced}
    assert_nothing_leaked(empty_index)


@contextmanager
def swapping(victims: list[tuple[Swap, Path]], outside: Path) -> Iterator[list[int]]:
    """Swap at random moments, to and fro, while a block runs; yields the count of swaps."""
    stop = threading.Event()
    count = [0]
    chosen = random.Random(23)  # noqa: S311 - the same ones each time

    def swap_on() -> None:
        while not stop.is_set():
            batch = chosen.sample(victims, 20)
            away = [put(swap, place, outside) for swap, place in batch]
            stop.wait(chosen.random() / 100)
            for (swap, place), old in zip(batch, away, strict=True):
                put_back(swap, place, old)
            count[0] += len(batch)
            stop.wait(chosen.random() / 100)

    swapper = threading.Thread(target=swap_on)
    swapper.start()
    try:
        yield count
    finally:
        stop.set()
        swapper.join()


@pytest.mark.soak
@pytest.mark.timeout(1_800)
def test_nothing_leads_out_however_often_it_is_swapped(empty_index: Path, tmp_path: Path) -> None:
    outside, victims = prepare(tmp_path, 300)
    with swapping(victims, outside) as count:
        for number in range(20):
            running = start(tmp_path, "--json", program=PROGRAM, stdout=subprocess.PIPE)
            running.communicate(timeout=SECONDS)
            assert running.returncode in (0, 1)
            assert_nothing_leaked(empty_index)
            # The next sync compares the bytes of files that were touched.
            for _, place in victims:
                for file in (place / "inner/file.txt", tmp_path / "replaced" / place.name):
                    # It may be swapped between these two calls, too.
                    with suppress(FileNotFoundError):
                        if file.is_file() and not file.is_symlink():
                            os.utime(file, (number, number), follow_symlinks=False)
    assert count[0] > 10_000
    assert len(ids(empty_index)) > 50


@pytest.mark.soak
def test_nothing_that_is_swapped_under_a_watch_leads_out(empty_index: Path, tmp_path: Path) -> None:
    outside, victims = prepare(tmp_path, 60)
    with Watch(tmp_path, "papers") as watch:
        watch.until_event("watching")
        with swapping(victims, outside) as count:
            watch.until(lambda: count[0] > 2_000, "many swaps")
        make(tmp_path / "papers", "last.txt")
        watch.until_event("indexed", source_document="last.txt")
        assert_nothing_leaked(empty_index)


def test_a_followed_link_is_resolved_once(idx: Idx, empty_index: Path, tmp_path: Path) -> None:
    papers = make(tmp_path / "papers")
    outside = make(tmp_path / "outside", "notes.txt", "more/notes.txt", "third.txt")
    secret = make(tmp_path / "secret")
    for name in ("id_rsa", "notes.txt"):
        (secret / name).write_text(MARKER)
    (papers / "link.txt").symlink_to(outside / "notes.txt")
    (papers / "more").symlink_to(outside / "more")
    (papers / "third.txt").symlink_to(outside / "third.txt")
    with_slow_file(papers)
    running = planned(tmp_path, "--follow-links")
    # The links themselves, then what they led to.
    for name, target in (("link.txt", secret / "id_rsa"), ("more", secret)):
        (papers / name).unlink()
        (papers / name).symlink_to(target)
    (outside / "third.txt").unlink()
    (outside / "third.txt").symlink_to(secret / "id_rsa")
    assert reasons(running) == {"third.txt": A_LINK}
    assert ids(empty_index) == ["a.html", "link.txt", "more/notes.txt"]
    assert "text of notes.txt" in idx("show", "link.txt").stdout
    assert_nothing_leaked(empty_index)


def test_a_file_that_is_named_by_itself_is_resolved_once(tmp_path: Path) -> None:
    outside = make(tmp_path / "outside")
    (outside / "a.txt").write_text(MARKER)
    (make(tmp_path / "papers", "a.txt") / "link.txt").symlink_to("a.txt")
    options = ExtractionOptions()
    for swapped in ("papers/a.txt", "papers"):
        change = single_file(tmp_path / "papers" / "link.txt")
        assert read_file(change.location, options).extracted.text == "text of a.txt"
        (tmp_path / swapped).rename(tmp_path / "replaced")
        (tmp_path / swapped).symlink_to(outside / swapped.removeprefix("papers").strip("/"))
        for read in (partial(read_file, options=options), hash_file):
            with pytest.raises(SourceFileError, match=r"a link took its place|was replaced by"):
                read(change.location)
        (tmp_path / swapped).unlink()
        (tmp_path / "replaced").rename(tmp_path / swapped)


def test_a_swapped_ignore_file_is_none(idx: Idx, empty_index: Path, tmp_path: Path) -> None:
    papers = make(tmp_path / "papers", "a.txt", "b/c.txt")
    (tmp_path / "rules").write_text("*\n")
    (papers / ".gitignore").symlink_to(tmp_path / "rules")
    os.mkfifo(papers / "b" / ".idxignore")
    assert result(idx("sync", "papers", "--json").stdout) == {"added": 2, "chunks": 2}
