"""The renderer: its worker processes are replaced, and what they made is kept."""

import asyncio
import multiprocessing
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from server.answers.errors import PageNotShownError
from server.rendering import cache
from server.rendering.page import FileStamp, PageRequest, Picture
from server.rendering.renderer import Renderer
from shared.files.originals import Originals
from tests.idx.extraction.pdf_files import write_pages

pytestmark = pytest.mark.anyio

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


async def test_a_page_is_rendered_once(renderer: Renderer, file: Path) -> None:
    first = await render(renderer, file)
    assert await render(renderer, file) is first
    assert await render(renderer, file, 2) is not first
    assert (await render(renderer, file, 1, "river")).marked == 1
    # Another file with the same content is read, but its picture is the same.
    os.utime(file, (1_100_000_000, 1_100_000_000))
    again = await render(renderer, file)
    assert again == first
    write_pages(file, ["Another"])
    assert await render(renderer, file) != first


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


def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MAX_CACHED_BYTES", 250)
    kept = cache.PictureCache()
    stamp = FileStamp(1, 2, 3, 4, is_settled=True)
    requests = [PageRequest(None, "a.pdf", Originals(None), page) for page in (1, 2, 3)]
    for request in requests:
        picture = Picture(b"x" * 100, 1, 1, 3, has_text=True, marked=0, content_hash="hash")
        kept.put(request, stamp, picture)
        kept.put(request, stamp, picture)
        # The first one stays in use.
        assert kept.get(requests[0], stamp) is not None
    assert [kept.get(request, stamp) is None for request in requests] == [False, True, False]
    unsettled = FileStamp(1, 2, 3, 5, is_settled=False)
    kept.put(requests[1], unsettled, picture)
    assert kept.get(requests[1], unsettled) is None
