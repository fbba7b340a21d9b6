"""Sign-in of people: a token once, then a cookie that only the server's own pages can use."""

import shutil
from collections.abc import Iterator
from http.cookies import Morsel, SimpleCookie
from pathlib import Path

import httpx2
import pytest

from tests.programs import run_idx
from tests.server.api.conftest import samples
from tests.server.http.served import SECONDS, Served, served, served_here, wait_for
from tests.server.pages.browsing import HTML, Page

__all__ = ["samples"]

READER, BOSS, WITHOUT_READ = ("b" * 32, "a" * 32, "c" * 32)
TOKENS = f"boss:read,admin:{BOSS} me:read:{READER} other:admin:{WITHOUT_READ}"


@pytest.fixture(scope="module")
def guarded(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that asks for a token, and may change its index."""
    folder = tmp_path_factory.mktemp("guarded")
    index = shutil.copytree(samples, folder / "index")
    options = ["--admin", "--root", folder, "--public-url", "https://search.example.org/x/mcp"]
    with served_here(index, *options, tokens=TOKENS) as server:
        yield server


@pytest.fixture(scope="module")
def plain(samples: Path) -> Iterator[Served]:
    """A server that asks for a token, and is reached without a proxy."""
    with served(samples, tokens=TOKENS) as server:
        yield server


def sent(
    server: Served, path: str, cookie: str = "", origin: str | None = "", **form: str
) -> httpx2.Response:
    """Send a form as a browser does from a page of the origin; "" is the server's own."""
    headers = HTML | ({"Cookie": cookie} if cookie else {})
    if origin is not None:
        headers["Origin"] = origin or server.base
    return httpx2.post(f"{server.base}{path}", data=form, headers=headers, timeout=SECONDS)


def got(server: Served, path: str, cookie: str = "") -> httpx2.Response:
    return server.get(path, **HTML, **({"Cookie": cookie} if cookie else {}))


def set_cookie(response: httpx2.Response) -> Morsel[str]:
    (header,) = response.headers.get_list("set-cookie")
    (cookie,) = SimpleCookie(header).values()
    return cookie


def signed_in(server: Served, token: str = READER) -> str:
    cookie = set_cookie(sent(server, "/sign-in", token=token))
    return f"{cookie.key}={cookie.value}"


def test_whoever_has_no_token_is_led_to_the_form_and_back(plain: Served) -> None:
    response = got(plain, "/documents/a%2Fb?q=x+y&chunk=2")
    assert response.status_code == 303
    assert response.headers["location"] == (
        "../sign-in?to=%2Fdocuments%2Fa%252Fb%3Fq%3Dx%2By%26chunk%3D2"
    )
    form = Page(got(plain, f"/{response.headers['location'].removeprefix('../')}"))
    target = form.tree.cssselect("[name=to]")[0].get("value")
    assert target == "/documents/a%2Fb?q=x+y&chunk=2"
    response = sent(plain, "/sign-in", token=READER, to=str(target))
    assert (response.status_code, response.headers["location"]) == (303, f".{target}")


def test_programs_get_a_problem_in_place_of_the_form(plain: Served) -> None:
    for path in ("/api/search", "/api/nothing", "/index/status"):
        response = got(plain, path)
        assert response.status_code == 401
        assert response.headers["content-type"] == "application/problem+json"


def test_the_cookie_opens_the_pages_and_the_api_but_not_mcp(plain: Served) -> None:
    cookie = set_cookie(sent(plain, "/sign-in", token=READER))
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "strict", "/")
    assert (cookie["max-age"], cookie["secure"], cookie["domain"]) == ("43200", "", "")
    assert READER not in cookie.value
    header = f"{cookie.key}={cookie.value}"
    assert "Sign out" in got(plain, "/?q=deposit", header).text
    assert got(plain, "/api/search?query=deposit", header).status_code == 200
    assert got(plain, "/mcp", header).status_code == 401


def test_behind_https_the_cookie_is_sent_by_https_only(guarded: Served) -> None:
    # A proxy may pass on another host than that of the page.
    response = sent(guarded, "/sign-in", origin="https://search.example.org", token=READER)
    cookie = set_cookie(response)
    assert cookie["secure"] is True
    assert cookie.key.startswith("__Host-")


@pytest.mark.parametrize("token", ["x" * 32, "", READER[:-1], f"{READER} {READER}", "ü" * 40])
def test_a_wrong_token_gets_the_form_again(plain: Served, token: str) -> None:
    response = sent(plain, "/sign-in", token=token, to="/status")
    assert response.status_code == 401
    assert "set-cookie" not in response.headers
    page = Page(response)
    (said,) = page.texts("[role=alert]")
    assert said.startswith("This token is not valid.")
    assert page.tree.cssselect("[name=to]")[0].get("value") == "/status"
    assert page.tree.cssselect("[name=token]")[0].get("value") is None


def test_a_token_that_may_not_read_is_refused_in_words(plain: Served) -> None:
    response = sent(plain, "/sign-in", token=WITHOUT_READ)
    assert response.status_code == 403
    assert "scope read" in Page(response).texts("[role=alert]")[0]


@pytest.mark.parametrize(
    "target",
    ["https://evil.example", "//evil.example", "/\\evil.example", "\\\\e", "/\t/e", "", "x"],
)
def test_it_leads_to_no_other_server(plain: Served, target: str) -> None:
    response = sent(plain, "/sign-in", token=READER, to=target)
    assert (response.status_code, response.headers["location"]) == (303, "./")


def test_a_sign_out_ends_the_session_for_good(plain: Served) -> None:
    header = signed_in(plain)
    assert got(plain, "/", header).status_code == 200
    response = sent(plain, "/sign-out", header)
    assert (response.status_code, response.headers["location"]) == (303, "./sign-in")
    cookie = set_cookie(response)
    assert (cookie["max-age"], cookie["path"], cookie["httponly"]) == ("0", "/", True)
    assert got(plain, "/", header).status_code == 303


@pytest.mark.parametrize("origin", ["https://evil.example", "http://localhost:1", "null", None])
@pytest.mark.parametrize("path", ["/sign-out", "/sign-in", "/status/sync", "/search"])
def test_a_form_of_another_origin_changes_nothing(
    plain: Served, path: str, origin: str | None
) -> None:
    header = signed_in(plain)
    response = sent(plain, path, header, origin, token=READER)
    assert response.status_code == 403
    assert "set-cookie" not in response.headers
    assert got(plain, "/", header).status_code == 200


def test_the_token_stands_in_no_address_and_no_log(plain: Served) -> None:
    assert sent(plain, f"/sign-in?token={READER}").status_code == 401
    sent(plain, "/sign-in", token=READER, to="/")
    assert READER not in plain.logged()


def test_only_administrators_have_forms_and_may_send_them(guarded: Served) -> None:
    origin = "https://search.example.org"

    def cookie_of(token: str) -> str:
        cookie = set_cookie(sent(guarded, "/sign-in", origin=origin, token=token))
        return f"{cookie.key}={cookie.value}"

    me, boss = cookie_of(READER), cookie_of(BOSS)
    assert "status/optimize" not in got(guarded, "/status", me).text
    assert sent(guarded, "/status/optimize", me, origin).status_code == 403
    assert "status/optimize" in got(guarded, "/status", boss).text
    assert sent(guarded, "/status/nothing", boss, origin).status_code == 404
    begun = sent(guarded, "/status/optimize", boss, origin)
    assert (begun.status_code, begun.headers["location"]) == (303, "../status")

    def rows() -> list[str]:
        return Page(got(guarded, "/status", boss)).texts("#operations tbody tr")

    wait_for(lambda: any("done" in row for row in rows()), "it ends")
    # Without remembered folders there is nothing to synchronize, and the page says so.
    refused = sent(guarded, "/status/sync", boss, origin)
    assert refused.status_code == 409
    assert Page(refused).texts("[role=alert]")[0]


def test_a_sync_can_be_started_from_the_page(tmp_path: Path) -> None:
    folder, index = tmp_path / "folder", tmp_path / "index"
    folder.mkdir()
    (folder / "a.txt").write_text("some text")
    assert run_idx(["init", "-i", index], tmp_path).returncode == 0
    variables = {"IDX_FOLDERS": str(folder)}
    options = ["--admin", "--root", tmp_path]
    with served_here(index, *options, tokens=TOKENS, environment=variables) as server:
        cookie = signed_in(server, BOSS)
        assert sent(server, "/status/sync", cookie).status_code == 303
        wait_for(lambda: "1 added" in got(server, "/status", cookie).text, "it ends")
        assert Page(got(server, "/", cookie)).texts(".hit h2") == ["a.txt"]
