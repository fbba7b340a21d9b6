"""A token that is limited to collections cannot look around its limit, whatever it asks."""

import json
import re
from collections.abc import Iterator
from email.message import EmailMessage
from functools import partial
from pathlib import Path
from shutil import copy
from typing import Any, Final
from urllib.parse import quote

import httpx2
import pytest
from mcp import MCPError
from mcp.types import PromptReference, ResourceTemplateReference

from server.prompts import COMPLETERS, PROMPTS
from server.resources.handlers import TEMPLATES
from server.tools.table import TOOLS
from tests.programs import run_idx
from tests.server.hearing import LIST, hearing_through
from tests.server.http.issuer import issuing
from tests.server.http.served import SECONDS, Served, bearer, client_of, refused, served_here
from tests.server.tool_answers import told

SAMPLES: Final = Path(__file__).parents[4] / "test-index" / "documents"

LIMITED: Final = "l" * 40
WHOLE: Final = "w" * 40
STRANGER: Final = "s" * 40
TOKENS: Final = (
    f"guest:read,collection=open:{LIMITED} owner:read:{WHOLE} "
    f"stranger:read,collection=foreign:{STRANGER}"
)

OPEN_DOCUMENT: Final = "lease-garden-flat.txt"
CLOSED_DOCUMENT: Final = "closed/board-minutes-2025-03-27.md"
CLOSED_PDF: Final = "closed/otterline-wl4-manual.pdf"

SECRETS: Final = re.compile(
    r"dreyspring|vellacourt|dividend|drainage|otterline|(?<!key)board|torn|closed[/\\]|'closed'|foreign|\.pdf"
)
"""What only the rest of the index has, in lower case."""

ASKED: Final = "dreyspring vellacourt dividend drainage otterline"
MISSPELLED: Final = "dreyspringg velacourt dividends"


def collections(folder: Path) -> list[dict[str, Any]]:
    return [
        {"name": "open", "description": "Leases.", "folder": str(folder / "open")},
        {"name": "closed", "description": "Of the board.", "folder": str(folder / "closed")},
        {"name": "foreign", "filters": ["country=fr"]},
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an index of two folders."""
    path = tmp_path_factory.mktemp("collections")
    index_samples(path, path / "index")
    return path


def index_samples(path: Path, index: Path) -> None:
    """Put samples and a torn file into two folders, and both into an index."""
    for name, files in {
        "open": ["lease-garden-flat.txt", "mietvertrag-werkstatt.txt"],
        "closed": ["board-minutes-2025-03-27.md", "otterline-wl4-manual.pdf"],
    }.items():
        (path / name).mkdir()
        for file in files:
            copy(SAMPLES / file, path / name)
    (path / "closed" / "torn.pdf").write_bytes(b"%PDF-1.7 board")
    for name in ("open", "closed"):
        run_idx(["sync", path / name, "-i", index], path)


@pytest.fixture(scope="module")
def guarded(folder: Path) -> Iterator[Served]:
    variables = {"IDX_COLLECTIONS": json.dumps(collections(folder))}
    with served_here(folder / "index", tokens=TOKENS, environment=variables) as running:
        yield running


def check(answer: object, *asked: object) -> str:
    """Check that an answer tells nothing of the rest of the index, and return it."""
    text = str(answer)
    for part in asked:
        # What was asked for may be repeated.
        text = text.replace(str(part), "")
    assert not (found := SECRETS.search(text.lower())), (found, text)
    return text


CALLS: Final[dict[str, list[dict[str, Any]]]] = {
    "Search": [
        {"query": "", "limit": 100, "content": "full"},
        {"query": ASKED},
        {"query": MISSPELLED, "facets": ["collection", "file_type", "language"]},
        {"query": "folder:closed"},
        {"query": "", "filters": [{"field": "file_path", "operator": "prefix", "value": "/"}]},
        {"query": "", "filters": [{"field": "source_document", "value": CLOSED_DOCUMENT}]},
        {"query": "", "filters": [{"field": "chunk_index", "value": 1}], "group": "document"},
        {"query": "", "filters": [{"field": "source_document", "operator": "ne", "value": "x"}]},
        {"query": "", "collection": "closed"},
        {"query": "", "filters": [{"field": "collection", "operator": "ne", "value": "open"}]},
        {"query": "", "sort": "-file_name", "limit": 100},
    ],
    "more_like": [
        {"chunk_id": f"{CLOSED_DOCUMENT}-chunk-001"},
        {"chunk_id": f"{OPEN_DOCUMENT}-chunk-001", "limit": 50},
    ],
    "explain_query": [
        {"query": f"{ASKED} drey* velacourt~ dividents", "detail": detail}
        for detail in ("parsed", "steps", "terms", "scores")
    ],
    "ListDocuments": [{}, {"prefix": "clo"}, {"collection": "closed"}, {"detail": "full"}],
    "document_details": [{"source_document_id": CLOSED_DOCUMENT}],
    "suggest_terms": [
        {"prefix": "drey"},
        {"prefix": "clo", "field": "source_document"},
        {"prefix": "/", "field": "file_path"},
    ],
    "top_terms": [
        {"limit": 1_000},
        {"field": "file_extension"},
        {"field": "source_document"},
        {"field": "title"},
        {"field": "file_name"},
    ],
    "list_fields": [{}, {"detail": "full"}],
    "index_stats": [{}],
    "list_failures": [{}],
    "get_next_chunk": [{"chunk_id": f"{CLOSED_DOCUMENT}-chunk-001"}],
    "get_previous_chunk": [{"chunk_id": f"{CLOSED_DOCUMENT}-chunk-002"}],
    "get_document_chunks": [
        {"source_document_id": CLOSED_DOCUMENT},
        {"source_document_id": "closed/board-minutes"},
    ],
    "show_page": [{"source_document_id": CLOSED_PDF, "page": 1, "query": "otterline"}],
    "search": [{"query": ASKED}],
    "fetch": [{"id": CLOSED_DOCUMENT}, {"id": f"{CLOSED_DOCUMENT}-chunk-001"}],
}
"""Calls of each tool that only reads."""

ALL_TOOLS: Final = ("--tools", "search,browse,connector")


def test_all_tools_that_read_are_tried() -> None:
    assert CALLS.keys() == {name for name, tool in TOOLS.items() if tool.group != "admin"}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_no_tool_shows_more(folder: Path, mode: str) -> None:
    variables = {
        "IDX_COLLECTIONS": json.dumps(collections(folder)),
        # Another test's user has indexed it.
        "IDX_ORIGINALS": str(folder),
    }
    with served_here(folder / "index", *ALL_TOOLS, tokens=TOKENS, environment=variables) as server:
        await check_tools(server, mode)


async def check_tools(server: Served, mode: str) -> None:
    """Check that no tool tells a limited client of the rest, and that the owner is answered."""
    # Whatever the owner asks first must not be answered to others.
    async with client_of(server, WHOLE, mode) as client:
        for name, calls in CALLS.items():
            for arguments in calls:
                await client.call_tool(name, arguments)
        page = await client.call_tool("show_page", CALLS["show_page"][0])
        assert not page.is_error
        listed = await told(client, "ListDocuments", collection="closed")
        assert listed["total_documents"] == 2
    assert "Of the board." in await instructions(server, WHOLE, mode)
    described = await instructions(server, LIMITED, mode)
    assert "open (Leases.)" in described
    check(described)
    async with client_of(server, LIMITED, mode) as client:
        for name, calls in CALLS.items():
            for arguments in calls:
                check(await client.call_tool(name, arguments), *strings(arguments))
        listed = await told(client, "ListDocuments")
        assert listed["total_documents"] == 2
        found = await told(
            client, "Search", query="deposit", facets=["collection"], collection="open"
        )
        assert found["totalHits"]
        assert [value["value"] for value in found["facets"][0]["values"]] == ["open"]
    async with client_of(server, STRANGER, mode) as client:
        listed = await told(client, "ListDocuments")
        assert listed["total_documents"] == 0


async def instructions(server: Served, token: str, mode: str) -> str:
    """Return the instructions with what the index has, for which a busy server does not wait."""
    told = ""
    for _ in range(20):
        async with client_of(server, token, mode) as client:
            told = client.instructions or ""
        if "The index " in told:
            break
    return told


def strings(value: Any) -> Iterator[str]:
    """Yield the texts of arguments, the longest first."""
    found: list[str] = []

    def collect(part: Any) -> None:
        match part:
            case str():
                found.extend([part, *re.findall(r"[\w./-]+", part)])
            case dict():
                list(map(collect, part.values()))
            case list():
                list(map(collect, part))

    collect(value)
    yield from sorted(found, key=len, reverse=True)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_no_resource_prompt_or_completion_shows_more(guarded: Served, mode: str) -> None:
    async with client_of(guarded, LIMITED, mode) as client:
        check(await client.list_resources())
        check(await client.read_resource("index://stats"))
        for uri in (
            f"document://{quote(CLOSED_DOCUMENT, safe='')}",
            f"chunk://{quote(CLOSED_DOCUMENT, safe='')}-chunk-001",
            f"page://{quote(CLOSED_PDF, safe='')}?page=1",
            "index://languages/fr",
        ):
            with pytest.raises(MCPError) as refusal:
                await client.read_resource(uri)
            own = (uri, CLOSED_DOCUMENT, f"{CLOSED_DOCUMENT}-chunk-001", CLOSED_PDF)
            check(refusal.value.error.message, *own)
        for field in ("source_document", "file_name", "content", "file_extension"):
            check(await client.read_resource(f"index://fields/{field}"))
        forms = {template.name: form for form, template in TEMPLATES.items()}
        for owner, name in COMPLETERS:
            reference = (
                PromptReference(name=owner)
                if owner in PROMPTS
                else ResourceTemplateReference(uri=forms[owner])
            )
            for typed in ("", "c", "b"):
                check(await client.complete(reference, {"name": name, "value": typed}))


PATHS: Final = [
    "/",
    "/?q=dreyspring+vellacourt",
    "/?q=&collection=closed",
    "/?folder=closed/",
    "/status",
    f"/documents/{quote(CLOSED_DOCUMENT, safe='')}",
    f"/documents/{quote(CLOSED_PDF, safe='')}?page=1",
    "/index/status",
    "/api/search?query=dreyspring&facets=collection&facets=file_type",
    "/api/search?query=&limit=100",
    "/api/search?query=&collection=closed",
    "/api/explain?query=drey*&detail=scores",
    "/api/suggest?prefix=drey",
    "/api/terms?limit=1000",
    "/api/terms?field=source_document",
    "/api/fields",
    "/api/statistics",
    "/api/documents",
    "/api/documents?collection=closed",
    "/api/failures",
    f"/api/documents/{quote(CLOSED_DOCUMENT, safe='')}",
    f"/api/documents/{quote(CLOSED_DOCUMENT, safe='')}/chunks",
    f"/api/documents/{quote(CLOSED_DOCUMENT, safe='')}/file",
    f"/api/documents/{quote(CLOSED_PDF, safe='')}/pages/1.png",
    f"/api/chunks/{quote(CLOSED_DOCUMENT, safe='')}-chunk-001/next",
    f"/api/chunks/{quote(CLOSED_DOCUMENT, safe='')}-chunk-002/previous",
    f"/api/chunks/{quote(CLOSED_DOCUMENT, safe='')}-chunk-001/similar",
    "/metrics",
]


@pytest.mark.parametrize("path", PATHS)
def test_no_path_shows_more(guarded: Served, path: str) -> None:
    check_path(guarded, path)


def check_path(guarded: Served, path: str) -> None:
    """Check that a path tells a limited client nothing of the rest, and the owner something."""
    whole = httpx2.get(f"{guarded.base}{path}", headers=bearer(WHOLE), timeout=SECONDS)
    assert whole.status_code in (200, 422), (path, whole.text)
    limited = httpx2.get(f"{guarded.base}{path}", headers=bearer(LIMITED), timeout=SECONDS)
    if "/pages/" in path or path.endswith("/file"):
        assert limited.status_code == 404
    asked = [CLOSED_DOCUMENT, CLOSED_PDF]
    check(limited.text, *asked, *(quote(name, safe="") for name in asked), *words_of(path))


def test_a_file_is_given_out_only_with_all_that_was_made_of_it(tmp_path: Path) -> None:
    letter = EmailMessage()
    letter["Subject"] = "Lease"
    letter.set_content("The lease is long.")
    board = EmailMessage()
    board["Subject"] = "Board"
    board.set_content("The board of Vellacourt decides on the dividend.")
    (tmp_path / "papers").mkdir()
    for name, messages in {"both.mbox": [letter, board], "one.mbox": [letter]}.items():
        box = b"".join(b"From a@a Sat Mar  1 10:00:00 2025\n" + m.as_bytes() for m in messages)
        (tmp_path / "papers" / name).write_bytes(box)
    index = tmp_path / "index"
    assert run_idx(["sync", "papers", "-i", index], tmp_path).returncode == 0
    leases = {"name": "open", "filters": ["file_name=message 1|both.mbox|one.mbox"]}
    variables = {"IDX_COLLECTIONS": json.dumps([leases, {"name": "foreign", "filters": ["a=b"]}])}
    with served_here(index, tokens=TOKENS, environment=variables) as running:

        def get(token: str, path: str) -> httpx2.Response:
            return httpx2.get(f"{running.base}{path}", headers=bearer(token), timeout=SECONDS)

        for document, code in {
            "both.mbox": 404,
            "both.mbox!/message 1": 404,
            "one.mbox": 200,
            "one.mbox!/message 1": 200,
        }.items():
            path = f"/documents/{quote(document, safe='')}"
            assert get(WHOLE, f"/api{path}/file").status_code == 200
            limited = get(LIMITED, f"/api{path}/file")
            assert (document, limited.status_code) == (document, code)
            if code == 404:
                check(limited.text)
            assert ("/file" in get(LIMITED, path).text) == (code == 200)


def test_a_limited_token_gets_a_file_where_no_file_holds_others(guarded: Served) -> None:
    path = f"/api/documents/{quote(OPEN_DOCUMENT, safe='')}/file"
    for token in (WHOLE, LIMITED):
        given = guarded.get(path, **bearer(token))
        assert (given.status_code, given.text) == (200, (SAMPLES / OPEN_DOCUMENT).read_text())


def words_of(path: str) -> list[str]:
    """The values in the query of a path, which the answer may repeat."""
    return re.findall(r"=([^&]+)", path) + re.findall(r"=([\w*]+)", path) + ["vellacourt"]


@pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")
@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_changes_of_the_rest_are_not_heard_of(tmp_path: Path, era: str) -> None:
    index = tmp_path / "index"
    for name in ("open", "closed"):
        (tmp_path / name).mkdir()
        await sync(tmp_path / name, index)
    variables = {"IDX_COLLECTIONS": json.dumps(collections(tmp_path))}
    with served_here(index, tokens=TOKENS, environment=variables) as server:
        uris = ["document://closed%2Fa.txt", "document://a.txt"]
        connect = partial(client_of, server, LIMITED)
        async with hearing_through(connect, era, *uris) as heard:
            (tmp_path / "closed" / "a.txt").write_text("what the board said")
            await sync(tmp_path / "closed", index)
            (tmp_path / "open" / "a.txt").write_text("what everybody knows")
            await sync(tmp_path / "open", index)
            assert await heard.next(2) == {LIST, "document://a.txt"}
            assert heard.is_silent()


async def sync(folder: Path, index: Path) -> None:
    assert run_idx(["sync", folder, "-i", index], folder).returncode == 0


def test_tokens_of_an_issuer_are_limited_by_their_scopes(folder: Path) -> None:
    variables = {"IDX_COLLECTIONS": json.dumps(collections(folder))}
    with (
        issuing() as issuer,
        served_here(folder / "index", *issuer.options, environment=variables) as server,
    ):

        def documents(scope: str) -> list[str]:
            token = issuer.token(scope=scope)
            response = server.get("/api/documents", **bearer(token))
            return [found["source_document"] for found in response.json()["documents"]]

        assert len(documents("read")) == 4
        assert OPEN_DOCUMENT in documents("read collection=open")
        assert len(documents("read collection=open")) == 2
        assert len(documents("read collection=open collection=closed")) == 4
        assert documents("read collection=nothing") == []


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (f"a:read,collection=opne:{LIMITED}", "there is no collection 'opne'"),
        (f"a:read,admin,collection=open:{LIMITED}", "cannot have the scope admin"),
        (f"a:read,collection=:{LIMITED}", "there is no collection ''"),
        (f"a:read,collection=open:{LIMITED} a:read:{WHOLE}", "limited to the same collections"),
    ],
)
def test_limits_that_cannot_be_meant_are_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tokens: str, message: str
) -> None:
    monkeypatch.setenv("IDX_COLLECTIONS", json.dumps(collections(folder)))
    said = refused("--http", index=folder / "index", tokens=tokens)
    assert message in said
    assert LIMITED not in said
