"""Names whose accents are characters of their own, as macOS writes them, asked for as typed."""

import json
from pathlib import Path
from typing import Literal
from unicodedata import normalize

import pytest

from tests.conftest import Connect, Idx

NAMES = ("Größen/übersicht.md", "Größen/Straßenbäume.txt", "École/été/leçon.txt", "한국/요약.txt")
Form = Literal["NFC", "NFD"]
FORMS: list[tuple[Form, Form]] = [("NFD", "NFC"), ("NFC", "NFD")]
BOTH: tuple[Form, Form] = ("NFC", "NFD")


def mixed(name: str) -> str:
    """A name whose folder is composed and whose file is not."""
    folder, _, file = name.rpartition("/")
    return f"{normalize('NFC', folder)}/{normalize('NFD', file)}"


def written(folder: Path, names: list[str]) -> None:
    for number, name in enumerate(names):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# Text {number}\n\nThe text of number {number}.\n", "utf-8")


@pytest.mark.parametrize(("on_disk", "asked"), FORMS)
def test_documents_are_named_in_either_form(
    idx: Idx, tmp_path: Path, on_disk: Form, asked: Form
) -> None:
    folder = tmp_path / normalize(on_disk, "Ordner für alles")
    names = [normalize(on_disk, name) for name in NAMES]
    written(folder, names)
    idx("sync", folder)
    ids = {document["source_document"] for document in listed(idx)}
    assert ids == set(names)
    for number, name in enumerate(NAMES):
        wanted = normalize(asked, name)
        assert f"number {number}" in idx("show", wanted).stdout
        path = normalize(asked, str(folder / name))
        assert f"number {number}" in idx("show", path).stdout
        assert f"number {number}" in idx("show", wanted, "--chunk", 1).stdout
        for condition in (
            *(f"source_document={wanted}", f"file_path={path}", f"folder={Path(wanted).parent}"),
            *(f"file_path^={Path(path).parent}", f"id={wanted}-chunk-001"),
        ):
            found = json.loads(idx("search", "text", "--json", "--filter", condition).stdout)
            assert names[number] in {hit["source_document"] for hit in found["results"]}, condition
    deleted = idx("delete", normalize(asked, NAMES[0]), "--json").stdout
    assert json.loads(deleted)["deleted"] == {names[0]: 1}
    assert NAMES[0] not in idx("list").stdout


def listed(idx: Idx) -> list[dict[str, str]]:
    documents: list[dict[str, str]] = json.loads(idx("list", "--json").stdout)["documents"]
    return documents


def test_a_name_in_both_forms_is_two_documents(idx: Idx, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    both = [normalize(form, "übersicht.md") for form in BOTH]
    written(folder, [*both, mixed(NAMES[1])])
    if len([*folder.glob("*.md")]) == 1:
        pytest.skip("the file system compares names in one form")
    idx("sync", folder)
    for number, name in enumerate(both):
        assert f"number {number}" in idx("show", name).stdout
    for form in BOTH:
        assert "number 2" in idx("show", normalize(form, NAMES[1])).stdout
    idx("delete", both[1])
    assert "number 0" in idx("show", both[1]).stdout


@pytest.mark.parametrize(("on_disk", "asked"), FORMS)
@pytest.mark.anyio
async def test_tools_take_names_in_either_form(
    idx: Idx, connect: Connect, tmp_path: Path, on_disk: Form, asked: Form
) -> None:
    folder = tmp_path / "papers"
    names = [normalize(on_disk, name) for name in NAMES]
    written(folder, names)
    idx("sync", folder)
    async with connect() as client:
        for number, name in enumerate(names):
            wanted = normalize(asked, name)

            async def call(tool: str, **arguments: object) -> str:
                answer = await client.call_tool(tool, arguments)
                assert not answer.is_error, answer
                return json.dumps(answer.structured_content, ensure_ascii=False)

            text = f"number {number}"
            assert text in await call("get_document_chunks", source_document_id=wanted)
            before = await call("get_previous_chunk", chunk_id=f"{wanted}-chunk-001")
            assert '"chunk": null' in before
            assert name in await call("ListDocuments", prefix=wanted[:-4])
            for field, operator, value in (
                ("source_document", "eq", wanted),
                ("folder", "eq", wanted.rpartition("/")[0]),
                ("file_path", "prefix", normalize(asked, str(folder / name))[:-2]),
                ("file_name", "in", [wanted.rpartition("/")[2]]),
            ):
                condition = {"field": field, "operator": operator, "value": value}
                assert text in await call("Search", query="text", filters=[condition]), condition
