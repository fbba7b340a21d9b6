"""A process that commits as often as it is told to: adds, replaces and deletes, also by `idx`."""

import multiprocessing
import os
import random
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.programs import PROGRAMS

EVERY_BY_IDX: Final = 100
"""Each so manieth commit is made by a run of `idx`, which closes the index before it."""

_FIRST_BY_IDX: Final = 25  # the first of them; no commit after which is measured
CHANGING: Final = 200  # documents that come, change and go

_SECONDS_TO_START: Final = 120


@dataclass(frozen=True)
class BusyWriter:
    """The process, from outside."""

    process_id: int
    up_to: Callable[[int], None]
    done: Callable[[], int]


@contextmanager
def busy_writer(index: Path, texts: list[str]) -> Iterator[BusyWriter]:
    context = multiprocessing.get_context("spawn")
    due, done = context.Value("q", 0), context.Value("q", -1)
    process = context.Process(target=_write, args=(index, texts, due, done))
    process.start()

    def tell(count: int) -> None:
        due.value = count

    def ask() -> int:
        if process.exitcode is not None:
            raise RuntimeError(f"the writer ended with {process.exitcode}")
        return int(done.value)

    try:
        until = time.monotonic() + _SECONDS_TO_START
        while ask() < 0 and time.monotonic() < until:
            time.sleep(0.05)
        assert process.pid is not None
        yield BusyWriter(process.pid, tell, ask)
    finally:
        due.value = -1
        process.join(_SECONDS_TO_START)
        process.kill()


def _write(index: Path, texts: list[str], due: Any, done: Any) -> None:
    from shared import Document, Index

    generator = random.Random(1)  # noqa: S311 - reproducible, not secret
    there: set[str] = set()
    with ExitStack() as opened:
        writer = opened.enter_context(Index(index))
        done.value = 0
        while due.value >= 0:
            if done.value >= due.value:
                time.sleep(0.002)
                continue
            name = f"changing-{generator.randrange(CHANGING)}"
            text = generator.choice(texts)
            goes = name in there and generator.random() < 0.3
            (there.discard if goes else there.add)(name)
            if done.value % EVERY_BY_IDX == _FIRST_BY_IDX:
                opened.close()
                options = ["delete", name] if goes else ["add", "-d", name, "-t", name, "-c", text]
                # What measures this process is not for its children.
                environment = {key: os.environ[key] for key in os.environ if "JAVA" not in key}
                subprocess.run(
                    [PROGRAMS / "idx", *options, "-i", index],
                    check=True,
                    stdout=subprocess.DEVNULL,
                    env=environment,
                )
                writer = opened.enter_context(Index(index))
            else:
                if goes:
                    writer.delete(name)
                else:
                    writer.add(Document(name, f"Title of {name}", text, {"kind": "changing"}))
                writer.commit()
            done.value += 1
