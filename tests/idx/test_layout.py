"""The white space of chunks: kept for files, joined for single documents, or as is asked for."""

import json
from pathlib import Path

import pytest

from tests.conftest import Connect, Idx
from tests.server.tool_answers import answer

CODE = "".join(f"def f{number}(x):\n    return x + {number}\n\n\n" for number in range(120))


def contents(idx: Idx, document: str) -> list[str]:
    shown = json.loads(idx("show", document, "--json").stdout)
    return [chunk["content"] for chunk in shown["chunks"]]


def joined(content: str) -> bool:
    return content == " ".join(content.split())


def test_files_keep_their_lines(idx: Idx, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(CODE)
    idx("add", "a.py")
    first, *others = contents(idx, "a.py")
    assert others
    assert first == CODE[: len(first)]
    assert all(content in CODE for content in others)


def test_folders_keep_their_lines(idx: Idx, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.py").write_text(CODE)
    idx("sync", "docs")
    assert all(content in CODE for content in contents(idx, "a.py"))


@pytest.mark.parametrize("way", ["-f", "-c", "bulk"])
def test_single_documents_are_joined(idx: Idx, tmp_path: Path, way: str) -> None:
    assert all(map(joined, contents_added(idx, tmp_path, way)))


@pytest.mark.parametrize("way", ["-f", "-c", "bulk"])
def test_single_documents_keep_their_lines_if_asked_to(idx: Idx, tmp_path: Path, way: str) -> None:
    found = contents_added(idx, tmp_path, way, "--layout", "keep")
    assert all(content in CODE for content in found)
    assert not any(map(joined, found))


def contents_added(idx: Idx, folder: Path, way: str, *options: str) -> list[str]:
    """The chunks of a document that was added in one of three ways."""
    if way == "bulk":
        entry = {"Id": "a", "Title": "A", "Content": CODE}
        (folder / "a.json").write_text(json.dumps([entry]))
        idx("bulk", "-j", "a.json", *options)
    else:
        (folder / "a.py").write_text(CODE)
        idx("add", "-d", "a", "-t", "A", way, "a.py" if way == "-f" else CODE, *options)
    return contents(idx, "a")


def test_files_are_joined_if_asked_to(idx: Idx, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(CODE)
    idx("add", "a.py", "--layout", "join")
    assert all(map(joined, contents(idx, "a.py")))


def test_the_layout_is_a_setting(idx: Idx, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.py").write_text(CODE)
    monkeypatch.setenv("IDX_LAYOUT", "join")
    idx("sync", "a.py")
    assert all(map(joined, contents(idx, "a.py")))


def test_another_layout_is_refused(idx: Idx, tmp_path: Path) -> None:
    refused = idx("add", "-d", "a", "-t", "A", "-c", "b", "--layout", "wrap", code=2)
    assert "'keep', 'join'" in refused.stderr


def test_a_long_row_is_cut_into_chunks_that_can_be_read(idx: Idx, tmp_path: Path) -> None:
    row = ",".join(f"value{number}" for number in range(6_000))
    (tmp_path / "a.csv").write_text(f"{row}\n" * 3)
    idx("add", "a.csv")
    found = contents(idx, "a.csv")
    assert max(map(len, found)) <= 3_000
    assert "".join(found).count("value5999") == 3


@pytest.mark.anyio
async def test_a_document_is_read_as_it_was_written(
    idx: Idx, tmp_path: Path, connect: Connect
) -> None:
    texts = {"code.py": CODE, "chinese.txt": "我们今天去北京大学。她在上海工作。" * 100}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    idx("add", *texts)
    async with connect() as client:
        for name, text in texts.items():
            (content,) = (await client.read_resource(f"document://{name}")).contents
            assert text.rstrip() in getattr(content, "text", "")
            details = answer(
                await client.call_tool("document_details", {"source_document_id": name})
            )
            assert details["characters"] == len(text.rstrip())
            if name == "code.py":
                assert details["words"] == len(text.split())
