"""The renderer, whose worker processes are replaced."""

import asyncio
import multiprocessing
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from server.answers.errors import PageNotShownError
from server.pictures.renderer import Renderer
from server.pictures.worker import PageRequest, Picture
from shared.files.originals import Originals
from tests.idx.extraction.pdf_files import write_pages

BUDGET = 30.0


@pytest.fixture
async def renderer() -> AsyncIterator[Renderer]:
    with Renderer() as renderer:
        yield renderer
    assert multiprocessing.active_children() == []


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = write_pages(tmp_path / "a.pdf", ["A river", "A bridge"])
    os.utime(file, (1_000_000_000, 1_000_000_000))
    return file


async def render(renderer: Renderer, file: Path, page: int = 1, *words: str) -> Picture:
    originals = Originals(None, (file.parent,))
    request = PageRequest(file.parent, file.name, originals, page, words)
    return await renderer.render(request, file.name, BUDGET)


async def test_processes_that_were_prepared_render_the_first_page(
    renderer: Renderer, file: Path
) -> None:
    await asyncio.gather(renderer.prepare(), renderer.prepare())
    prepared = {process.pid for process in multiprocessing.active_children()}
    assert prepared
    assert (await render(renderer, file)).pages == 2
    assert {process.pid for process in multiprocessing.active_children()} == prepared


async def test_workers_that_died_are_replaced(renderer: Renderer, file: Path) -> None:
    await render(renderer, file)
    for turn in range(3):
        workers = multiprocessing.active_children()
        assert workers
        for worker in workers:
            os.kill(worker.pid or 0, signal.SIGKILL)
        for worker in workers:
            worker.join()
        assert (await render(renderer, file, 2, f"word{turn}")).pages == 2


async def test_a_file_larger_than_allowed_is_named(
    renderer: Renderer, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDX_MAX_SIZE", "0.0001")
    with pytest.raises(PageNotShownError, match=r"a.pdf has more than the 0.0001 MB"):
        await render(renderer, file)
