"""Original files of documents, and pictures of their pages, by the JSON API."""

import gc
import io
import os
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import quote

import httpx2
import pytest
from PIL import Image

from shared import Document
from tests.conftest import add_documents
from tests.idx.extraction.pdf_files import write_pages
from tests.idx.files import zipped
from tests.idx.test_secrets import PKCS8
from tests.programs import run_idx
from tests.server.http.served import SECONDS, Served, served_here, wait_for

MAIL: Final = """Subject: Keys
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain

a river
--b
Content-Type: text/plain
Content-Disposition: attachment; filename=notes.txt
Content-Transfer-Encoding: base64

"""

HTML = "<html><body><script>alert(1)</script>a river in a page</body></html>"
TEXT = "A text about a river.\n" * 10_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files") / "files"
    (folder / "sub").mkdir(parents=True)
    # More than what the system takes from a server whose client does not read.
    (folder / "large.zip").write_bytes(zipped(**{"noise.bin": os.urandom(30_000_000)}))
    write_pages(folder / "manual.pdf", ["The river is deep.", "No word."])
    (folder / "page.html").write_text(HTML)
    (folder / "sub" / "nötes #1.txt").write_text(TEXT)
    for name in ("gone.txt", "changed.txt", "link.txt"):
        (folder / name).write_text("one river")
    return folder


@pytest.fixture(scope="module")
def server(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    index = tmp_path_factory.mktemp("files") / "index"
    assert run_idx(["add", folder, "-i", index], folder).returncode == 0
    add_documents(index, Document("typed", "Typed", "a river"))
    (folder / "gone.txt").unlink()
    (folder / "changed.txt").write_text("another text")
    (folder / "link.txt").unlink()
    secret = folder.parent / "secret.txt"
    secret.write_text("secret")
    (folder / "link.txt").symlink_to(secret)
    with served_here(index) as running:
        yield running


def path(name: str) -> str:
    return f"/api/documents/{quote(name, safe='')}"


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only Linux has /proc")
def test_a_file_whose_client_leaves_is_closed_at_once(server: Served, folder: Path) -> None:
    request = f"GET {path('large.zip')}/file HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()

    def is_closed() -> bool:
        # One of the descriptors is of the list itself.
        opened = map(os.path.realpath, Path("/proc/self/fd").iterdir())
        return str(folder / "large.zip") not in opened

    # Which would close it, too, at some time.
    gc.disable()
    try:
        for _ in range(10):
            with server.raw() as client:
                client.sendall(request)
                assert client.recv(15) == b"HTTP/1.1 200 OK"
        wait_for(is_closed, "the file is still open")
    finally:
        gc.enable()


def test_a_file_is_its_bytes_with_its_name(server: Served) -> None:
    response = server.get(f"{path('sub/nötes #1.txt')}/file")
    assert response.status_code == 200
    assert response.text == TEXT
    assert (
        response.headers["content-disposition"] == "inline; filename*=UTF-8''n%C3%B6tes%20%231.txt"
    )
    assert response.headers["content-type"] == "text/plain"
    assert response.headers["x-content-type-options"] == "nosniff"
    head = httpx2.head(f"{server.base}{path('sub/nötes #1.txt')}/file", timeout=SECONDS)
    assert (head.status_code, head.content) == (200, b"")
    assert int(head.headers["content-length"]) == len(TEXT)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("bytes=0-4", TEXT[:5]),
        ("bytes=5-", TEXT[5:]),
        ("bytes=-7", TEXT[-7:]),
        ("bytes=10-9999999999", TEXT[10:]),
    ],
)
def test_a_part_of_a_file_may_be_read(server: Served, wanted: str, expected: str) -> None:
    response = server.get(f"{path('sub/nötes #1.txt')}/file", Range=wanted)
    assert (response.status_code, response.text) == (206, expected)
    start = TEXT.rindex(expected) if wanted.startswith("bytes=-") else TEXT.index(expected)
    end = start + len(expected) - 1
    if wanted != "bytes=0-4":
        end = len(TEXT) - 1
        start = end + 1 - len(expected)
    assert response.headers["content-range"] == f"bytes {start}-{end}/{len(TEXT)}"


@pytest.mark.parametrize("wanted", ["bytes=999999999-", "bytes=5-2", "bytes=-0"])
def test_a_part_that_does_not_exist_is_refused(server: Served, wanted: str) -> None:
    response = server.get(f"{path('sub/nötes #1.txt')}/file", Range=wanted)
    assert response.status_code == 416
    assert response.headers["content-range"] == f"bytes */{len(TEXT)}"


@pytest.mark.parametrize("wanted", ["bytes=0-1,4-5", "lines=1-2", "bytes=x"])
def test_other_ranges_are_answered_with_the_whole(server: Served, wanted: str) -> None:
    assert server.get(f"{path('sub/nötes #1.txt')}/file", Range=wanted).text == TEXT


def test_a_part_of_an_older_file_is_not_mixed_with_a_newer_one(server: Served) -> None:
    url = f"{path('sub/nötes #1.txt')}/file"
    tag = server.get(url).headers["etag"]
    headers = {"Range": "bytes=0-4", "If-Range": tag}
    assert server.get(url, **headers).status_code == 206
    assert server.get(url, **(headers | {"If-Range": '"older"'})).text == TEXT
    assert server.get(url, **{"If-None-Match": tag}).status_code == 304


def test_what_could_run_in_a_browser_is_saved(server: Served) -> None:
    response = server.get(f"{path('page.html')}/file")
    assert response.text == HTML
    assert response.headers["content-disposition"].startswith("attachment;")
    assert "default-src 'self'" in response.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gone.txt", "is not there any more"),
        ("link.txt", "cannot be read"),
        ("typed", "was not indexed from a file"),
        ("../secret.txt", "no document has the id"),
        ("/etc/passwd", "no document has the id"),
    ],
)
def test_only_an_indexed_file_in_its_folder_is_served(server: Served, name: str, said: str) -> None:
    response = server.get(f"{path(name)}/file")
    assert response.status_code == 404
    assert said in response.json()["detail"]


def test_a_page_is_a_picture_with_the_words_marked(server: Served) -> None:
    url = f"{path('manual.pdf')}/pages/1.png"
    plain, marked = server.get(url), server.get(f"{url}?q=river")
    for response in (plain, marked):
        assert response.headers["content-type"] == "image/png"
        assert "document-changed" not in response.headers
    sizes = [Image.open(io.BytesIO(response.content)).size for response in (plain, marked)]
    assert sizes[0] == sizes[1]
    assert sizes[0][0] * sizes[0][1] <= 2_000_000
    assert plain.content != marked.content
    missing = server.get(f"{path('manual.pdf')}/pages/3.png")
    assert (missing.status_code, "2 pages" in missing.json()["detail"]) == (404, True)
    assert server.get(f"{path('page.html')}/pages/1.png").status_code == 404
    assert server.get(f"{path('manual.pdf')}/pages/0.png").status_code == 422


def test_a_picture_of_a_changed_file_says_so(server: Served, folder: Path) -> None:
    file = folder / "manual.pdf"
    before, times = file.read_bytes(), file.stat()
    try:
        write_pages(file, ["Another river", "No word."])
        response = server.get(f"{path('manual.pdf')}/pages/1.png?q=river")
        assert response.headers["document-changed"] == "true"
    finally:
        file.write_bytes(before)
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


INNER: Final[dict[str, str | bytes]] = {
    "a.txt": "x",
    "b.zip": zipped(**{".env": "x", "c.txt": "x"}),
}
PLAIN: Final = zipped(**{"a.txt": "a river"})
WITHHELD: Final[dict[str, tuple[str | bytes, str | bytes | None, str | None]]] = {
    "key.txt": (b"a river", PKCS8, "seems to contain a private key"),
    "content.zip": (zipped(**{"a.txt": "a river", "b.txt": PKCS8}), None, "secrets within"),
    "name.zip": (zipped(**{"a.txt": "a river", "id_rsa": "x"}), None, "secrets within"),
    "hidden.zip": (zipped(**{"a.txt": "a river", ".ssh/id_rsa": "x"}), None, "secrets within"),
    "inner.zip": (zipped(**INNER), None, "secrets within"),
    "mail.eml": (MAIL + b64encode(PKCS8.encode()).decode(), None, "secrets within"),
    "later.zip": (PLAIN, zipped(**{"a.txt": PKCS8}), "has changed"),
    "plain.zip": (PLAIN, None, None),
    "changed.txt": (b"a river", b"another river", None),
}  # fmt: skip
"""Files as they are indexed, and as they are later; a part of why the original is not sent."""


def test_no_original_with_a_secret_leaves(tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    for name, (before, _, _) in WITHHELD.items():
        (files / name).write_bytes(before if isinstance(before, bytes) else before.encode())
    assert run_idx(["add", files, "-i", tmp_path / "index"], tmp_path).returncode == 0
    for name, (_, after, _) in WITHHELD.items():
        if after is not None:
            (files / name).write_bytes(after if isinstance(after, bytes) else after.encode())
    with served_here(tmp_path / "index") as server:
        for name, (_, _, reason) in WITHHELD.items():
            within = [f"{name}!/a.txt"] if name.endswith(".zip") else []
            for id_ in (name, *within):
                for method in ("GET", "HEAD"):
                    url = f"{server.base}{path(id_)}/file"
                    answer = httpx2.request(method, url, timeout=SECONDS)
                    assert (answer.status_code == 200) == (reason is None), (id_, method)
                page = server.get(f"/documents/{quote(id_, safe='')}").text
                assert "PRIVATE KEY" not in page
            if reason:
                assert reason in server.get(f"{path(name)}/file").json()["detail"], name
    run = ["search", "river", "-i", tmp_path / "index", "--json"]
    assert "PRIVATE KEY" not in run_idx(run, tmp_path).stdout
