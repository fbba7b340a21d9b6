"""What the documentation shows is what happens."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client
from typer.main import get_command

from docs.site import conf
from idx.extraction.formats import READERS
from idx.extraction.media_types import TYPES_BY_NAME
from server.app import app
from shared import create
from shared.files.secret_files import SECRETS
from shared.settings.defaults import VARIABLES
from tests.conftest import Connect, Idx
from tests.idx.test_secrets import SECRETS as EXAMPLES
from tests.programs import PROGRAMS, run

ROOT = Path(__file__).parents[1]
TOOL_PAGES = ("tools.md", "administration.md")
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *(ROOT / folder / "README.md" for folder in ("pylucene", "test-index")),
]


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


@pytest.mark.parametrize(
    "page", ["README.md", pytest.param("docs/maintenance.md", marks=pytest.mark.soak)]
)
def test_the_session_of_a_page_is_real(page: str, tmp_path: Path, idx: Idx) -> None:
    idx.delenv("IDX_SEMANTIC")
    (session,) = blocks(page, "console")
    (tmp_path / "test-index").symlink_to(ROOT / "test-index")
    shown = ""
    for line in session.splitlines():
        if not line.startswith("$ idx "):
            continue
        done = idx(*shlex.split(line.removeprefix("$ idx ")))
        shown += f"{line}\n{done.stdout}"
    shown = re.sub(r"in \d+\.\d s", "in 0.9 s", shown.replace(str(tmp_path), "/home/me"))
    assert without_numbers(shown) == without_numbers(session)


def without_numbers(session: str) -> str:
    # Sizes differ from run to run, confidences by some hundredths between processors.
    return re.sub(r"\(0\.\d\d\)", "(0.9)", re.sub(r"\d+\.\d\d MB", "0.17 MB", session))


def test_the_python_examples_are_real(tmp_path: Path) -> None:
    examples, outputs = blocks("docs/python.md", "python"), blocks("docs/python.md", "text")
    for example, output in zip(examples, outputs, strict=True):
        done = run(sys.executable, "-c", example, cwd=tmp_path)
        assert done.stdout == output


def test_every_format_has_a_row_in_the_table() -> None:
    rows = (ROOT / "docs" / "formats.md").read_text().splitlines()
    named = [row.split(" | ")[1].split() for row in rows if row.count(" | ") > 3]
    for media_type in READERS:
        names = {
            f"`{name}`" for name, named_type in TYPES_BY_NAME.items() if named_type == media_type
        }
        assert sum(names <= {*each} for each in named) == 1, names


def test_the_reference_of_commands_is_the_help(tmp_path: Path) -> None:
    generated = tmp_path / "commands.md"
    run(
        *(PROGRAMS / "typer", "idx.app", "utils", "docs", "--name", "idx"),
        *("--title", "Commands of idx", "--output", generated),
        cwd=ROOT,
    )
    assert generated.read_text() == (ROOT / "docs" / "commands.md").read_text(), "run: make docs"


async def test_the_reference_of_tools_is_complete(index_path: Path, connect: Connect) -> None:
    create(index_path)
    offered = ("--tools", "search,browse,connector,admin", "--admin", "--root", "/")
    collections = '[{"name": "german", "filters": ["language=de"]}]'
    async with connect(*offered, IDX_COLLECTIONS=collections) as client:
        await compare_with_reference(client)


async def compare_with_reference(client: Client) -> None:
    pages = "".join((ROOT / "docs" / name).read_text() for name in TOOL_PAGES)
    sections = dict(re.findall(r"^## `(\w+)`\n(.*?)(?=^## )", pages, re.MULTILINE | re.DOTALL))
    readme_tools = re.findall(r"^\| `(\w+)` \|", (ROOT / "README.md").read_text(), re.MULTILINE)
    tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == list(sections) == readme_tools
    for tool in tools:
        documented = re.findall(r"^\| `(\w+)` \|", sections[tool.name], re.MULTILINE)
        assert documented == list(tool.input_schema["properties"])


def test_the_options_of_http_are_documented_and_there_are_no_others() -> None:
    options = [
        parameter.opts[0]
        for parameter in get_command(app).params
        if (getattr(parameter, "rich_help_panel", None) or "").startswith("HTTP")
    ]
    page = (ROOT / "docs" / "http.md").read_text()
    documented = re.findall(r"^\| `(--[\w-]+)` \|", page, re.MULTILINE)
    assert sorted(options) == sorted(["--http", *documented])


async def test_the_reference_of_resources_and_prompts_is_complete(
    index_path: Path, connect: Connect
) -> None:
    page = (ROOT / "docs" / "resources.md").read_text()
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## )", page, re.MULTILINE | re.DOTALL))
    create(index_path)
    async with connect() as client:
        (listed,) = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates
        prompts = (await client.list_prompts()).prompts
    uris = re.findall(r"^\| `(\S+)` \|", sections["Resources"], re.MULTILINE)
    assert uris == [listed.uri, *(template.uri_template for template in templates)]
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", sections["Prompts"], re.MULTILINE)
    assert {name: re.findall(r"`(\w+)`( \(optional\))?", row) for name, row in rows} == {
        prompt.name: [
            (argument.name, "" if argument.required else " (optional)")
            for argument in prompt.arguments or ()
        ]
        for prompt in prompts
    }


@pytest.mark.soak
def test_the_session_with_resources_is_real(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (commands,) = blocks("docs/resources.md", "console")
    (example,) = blocks("docs/resources.md", "python")
    (output,) = blocks("docs/resources.md", "text")
    # The SDK starts servers with an environment of its own.
    program = tmp_path / "bin" / "mcp-lucene"
    program.parent.mkdir()
    program.write_text(
        f"#!/bin/sh\nPYTHONPATH='{os.environ.get('PYTHONPATH', '')}' "
        f"exec '{PROGRAMS / 'mcp-lucene'}' \"$@\"\n"
    )
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{program.parent}:{PROGRAMS}", prepend=":")
    for line in commands.splitlines():
        subprocess.run(shlex.split(line.removeprefix("$ ")), cwd=tmp_path, check=True)
    done = run(sys.executable, "-c", example, cwd=tmp_path)
    assert done.stdout == output


def test_the_list_of_secrets_is_documented() -> None:
    *_, listed = blocks("docs/folders.md", "text")
    assert listed.split() == list(SECRETS)


def test_the_issuers_of_secrets_are_documented() -> None:
    page = " ".join((ROOT / "docs" / "folders.md").read_text().split())
    listed = page.partition("- a token or key of ")[2].partition(", in the shape")[0]
    known = {what.partition(" of ")[2] for _, what in EXAMPLES.values()} - {""}
    assert set(re.split(", | or ", listed)) == known


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for link in links(page):
        target, _, anchor = link.partition("#")
        leads_to = (page.parent / target).resolve() if target else page
        assert leads_to.exists(), link
        if anchor:
            assert anchor in anchors(leads_to), link


def links(page: Path) -> list[str]:
    """The relative links of a page, pictures included."""
    found = re.findall(r"\]\(([^)\s]+)\)", without_code(page))
    return [link for link in found if not re.match(r"[a-z]+:", link)]


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives the headings of a page."""
    seen: dict[str, int] = {}
    for heading in re.findall(r"^#+ (.+)$", without_code(page), re.MULTILINE):
        text = re.sub(r"\[(.+?)\]\(.+?\)", r"\1", heading).strip().lower()
        anchor = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        seen[anchor] = seen.get(anchor, -1) + 1
        if seen[anchor]:
            seen[f"{anchor}-{seen[anchor]}"] = 0
    return set(seen)


def without_code(page: Path) -> str:
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def test_the_index_names_every_page_once() -> None:
    index = ROOT / "docs" / "index.md"
    listed = [(index.parent / link).resolve() for link in links(index)]
    pages = [page for page in index.parent.rglob("*.md") if page != index]
    assert sorted(page for page in listed if index.parent in page.parents) == sorted(pages)


def test_the_site_has_every_page_below_the_headings_of_the_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text()
    pages = re.findall(r"^/(.+)$", conf.contents(index), re.MULTILINE)
    assert {ROOT / f"{page}.md" for page in pages} == set(PAGES) - {ROOT / "README.md"}
    captions = re.findall(r"^:caption: (.+)$", conf.contents(index), re.MULTILINE)
    assert captions == re.findall(r"^## (.+)$", index, re.MULTILINE)


@pytest.mark.parametrize(
    ("name", "text", "loaded"),
    [
        ("a.html", '<script src="https://example.org/a.js"></script>', True),
        ("a.html", '<link rel="stylesheet" href="//example.org/a.css">', True),
        ("a.html", '<img src="http://example.org/a.png">', True),
        ("a.html", "<style>@import 'https://example.org/a.css'</style>", True),
        ("a.css", "@font-face { src: url(https://example.org/a.woff2) }", True),
        ("a.html", '<a href="https://example.org">a link</a> <img src="a.png">', False),
        ("a.html", '<link rel="canonical" href="https://example.org/a.html">', False),
        ("a.css", "a { background: url('data:image/svg+xml,<svg/>') }", False),
    ],
)
def test_the_site_finds_what_a_page_loads_from_elsewhere(
    tmp_path: Path, name: str, text: str, loaded: bool
) -> None:
    (tmp_path / name).write_text(text)
    assert bool([*conf.loaded_from_elsewhere(tmp_path / name)]) == loaded


def test_the_variables_of_the_environment_are_documented() -> None:
    code = "".join(file.read_text() for file in (ROOT / "shared" / "settings").glob("*.py"))
    variables = {*re.findall(r"IDX_[A-Z_]+[A-Z]", code), *VARIABLES.values()}
    assert {"IDX_WAIT", "IDX_CONFIG"} <= variables
    documented = "".join(page.read_text() for page in (ROOT / "docs").rglob("*.md"))
    assert {name for name in variables if name not in documented} == set()


def test_the_modules_that_the_architecture_names_are_there() -> None:
    folders = ("idx", "server", "shared", "tests")
    files = [
        f"/{path.relative_to(ROOT)}" for name in folders for path in (ROOT / name).rglob("*.py")
    ]
    named = set(re.findall(r"[\w/]+\.py", (ROOT / "docs" / "architecture.md").read_text()))
    assert len(named) > 40
    assert {name for name in named if not any(file.endswith(f"/{name}") for file in files)} == set()
