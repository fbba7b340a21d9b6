"""What people do first: install both programs by one command, without a compiler.

The package index serves the files that `make wheels` has built, on loopback; what they depend on
comes from where uv has it.
"""

import json
import os
import re
import sys
import time
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.http_servers import listening
from tests.programs import run
from tests.waiting import wait_for

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
UV = ROOT / "build" / "release-tools" / "bin" / "uv"

MEGABYTES = 257
"""What the files of an installation may take, 104 of it the Java runtime."""

pytestmark = [pytest.mark.soak, pytest.mark.timeout(900)]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def package_index(tmp_path: Path) -> Iterator[str]:
    """The address of a package index (PEP 503) with the files in dist."""
    assert any(DIST.glob("*.whl")), "there are no wheels; run: make wheels"
    root = tmp_path / "index"
    for file in sorted(DIST.glob("*.whl")):
        page = root / "simple" / re.sub(r"[-_.]+", "-", file.name.split("-")[0])
        page.mkdir(parents=True, exist_ok=True)
        (page / file.name).hardlink_to(file)
        with (page / "index.html").open("a") as links:
            links.write(f'<a href="{file.name}">{file.name}</a>\n')
    with listening(ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=root))) as server:
        yield f"http://127.0.0.1:{server.server_port}/simple/"


def size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())


@pytest.mark.parametrize("source", ["--index", "--find-links"])
def test_one_command_installs_both_programs(
    source: str, package_index: str, tmp_path: Path
) -> None:
    place = package_index if source == "--index" else DIST
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "IDX_"))
    } | {
        # No compiler, and nothing else of this machine.
        "PATH": str(tmp_path / "bin"),
        "HOME": str(tmp_path),
        # The certificates of this machine, as pip uses them.
        "UV_SYSTEM_CERTS": "1",
        "UV_PYTHON": sys.executable,
        "UV_TOOL_DIR": str(tmp_path / "tools"),
        "UV_TOOL_BIN_DIR": str(tmp_path / "bin"),
        "UV_CACHE_DIR": str(tmp_path / "cache"),
    }

    def install() -> float:
        began = time.monotonic()
        run(UV, *f"tool install --reinstall {source} {place} mcp-lucene".split(), env=environment)
        return time.monotonic() - began

    def output(program: str, *arguments: str) -> str:
        return run(tmp_path / "bin" / program, *arguments, cwd=tmp_path, env=environment).stdout

    idx = partial(output, "idx")

    print(f"installed in {install():.1f} s with an empty cache, then in {install():.1f} s")
    print(f"{size(tmp_path / 'tools') / 1e6:.0f} MB")
    assert size(tmp_path / "tools") < MEGABYTES * 1e6
    (tmp_path / "lease.txt").write_text("The notice period is three months.")
    idx("add", "lease.txt")
    (hit,) = json.loads(idx("search", "notice period", "--json"))["results"]
    assert hit["source_document"] == "lease.txt"
    assert output("mcp-lucene", "--version") == idx("--version").replace("idx", "mcp-lucene")
    # The next commands start faster.
    wait_for(lambda: any((tmp_path / "tools").rglob("lucene-*.aot")), every=0.2)
    version = "{}.{}".format(*sys.version_info)
    assert f'uv tool install --python {version} "mcp-lucene[7z]"' in idx("doctor")
