"""A browser, which `make browser` sets up, and servers that it visits."""

import shutil
import site
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared import Document, Index, create
from shared.model.document import Metadata
from tests.programs import Started
from tests.server.api.conftest import samples
from tests.server.http.served import Served, served
from tests.waiting import SECONDS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page

__all__ = ["samples"]

ENVIRONMENT = Path(__file__).parent / ".venv"

BROWSERS = ("chromium", "chromium-browser", "google-chrome")

TOKEN = "b" * 32

FILES = 400  # files that take long enough for somebody to press a button

EXPECTED = (
    "Failed to load resource: the server responded with a status of 401",
    *("htmx:sendAbort", "htmx:afterRequest"),
)

EVIL = '"><img src=x onerror="document.title=1"><script>document.title=2</script>'
"""A text that would change the title of a page that shows it as HTML."""


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    packages = [*ENVIRONMENT.glob("lib/python*/site-packages")]
    if program is None or not packages:
        pytest.skip("there is no browser; run: make browser")
    for folder in packages:
        site.addsitedir(str(folder))
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # The sandbox of the browser does not work for root, as whom continuous integration runs.
        launched = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture
def page(browser: "Browser") -> Iterator["Page"]:
    """A page that fails its test if it asks another server or if its scripts fail."""
    context = browser.new_context(reduced_motion="reduce")
    context.set_default_timeout(SECONDS * 1000)
    opened = context.new_page()
    asked: list[str] = []
    failed: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    context.on("weberror", lambda error: failed.append(str(error.error)))

    def note(said: "ConsoleMessage") -> None:
        # A browser reports the status of a refused sign-in itself, htmx each request that it ended
        # for a newer one.
        if said.type == "error" and not said.text.startswith(EXPECTED):
            failed.append(said.text)

    opened.on("console", note)
    yield opened
    context.close()
    assert failed == []
    assert {url.split("/")[2].split(":")[0] for url in asked} == {"127.0.0.1"}
    assert len({url.split("/")[2] for url in asked}) == 1


@pytest.fixture(scope="session")
def site_of_samples(samples: Path) -> Iterator[Served]:
    """A server on the samples that asks for no token."""
    with served(samples) as server:
        yield server


@pytest.fixture(scope="session")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server on documents in folders, some in other scripts, some that try to do something."""
    folder = tmp_path_factory.mktemp("many")
    create(folder / "index")
    with Index(folder / "index") as index:
        for number in range(30):
            metadata: Metadata = {
                "author": ("Ada", "Grace")[number % 2],
                "language": ("en", "de")[number % 2],
                "modified": f"20{number:02}-06-01T12:00:00Z",
            }
            text = f"apple number {number}. " + "Some words follow here. " * 500
            name = f"folder-{number % 3}/{number}.txt"
            index.add(Document(name, f"Apple {number}", text, metadata))
        index.add(Document("rtl", "تفاحة", "هذه تفاحة خضراء apple وهذه كلمات أخرى"))
        index.add(Document("long", "L" * 300, "apple " + "x" * 2_000, {"author": "y" * 300}))
        evil: Metadata = {"author": EVIL, "language": EVIL, "file_type": EVIL, "section": EVIL}
        index.add(Document(f"{EVIL}/a.html", EVIL, f"# {EVIL}\n\nwicked apple {EVIL}", evil))
    with served(folder / "index") as server:
        yield server


@pytest.fixture(scope="session")
def guarded(samples: Path) -> Iterator[Served]:
    """A server that asks for `TOKEN`."""
    with served(samples, tokens=f"me:read:{TOKEN}") as server:
        yield server


@pytest.fixture
def administered(tmp_path: Path) -> Iterator[Served]:
    """A server on an empty index whose administrator, with `TOKEN`, may read `FILES` files."""
    folder, index = tmp_path / "folder", tmp_path / "index"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"{number}.txt").write_text(f"apple number {number}. " * 200)
    create(index)
    with served(
        index,
        *("--admin", "--root", tmp_path),
        tokens=f"boss:read,admin:{TOKEN}",
        environment={"IDX_FOLDERS": str(folder)},
    ) as server:
        yield server


@pytest.fixture(scope="session")
def other_site() -> Iterator[str]:
    """The address of another program on this machine, which has a form for any server."""
    with Started(
        *(sys.executable, "-m", "http.server", "0", "--bind", "127.0.0.1"),
        cwd=Path(__file__).parent / "other_site",
        stderr=subprocess.DEVNULL,
        env={"PYTHONUNBUFFERED": "1"},
    ) as process:
        yield process.stdout.readline().partition("(")[2].partition("/)")[0]
        process.terminate()
