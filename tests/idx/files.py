"""Files and folders for tests, and what an index says of them."""

import io
import json
import stat
import zipfile
from pathlib import Path
from typing import Any

from shared import DocumentSummary, Searcher
from tests.conftest import Idx


def make(folder: Path, *names: str) -> Path:
    """Make files with their own names as text; a name that ends with a slash is a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            path.mkdir(exist_ok=True)
        else:
            path.write_text(f"text of {name}")
    return folder


def zipped(**entries: str | bytes) -> bytes:
    """An archive with entries; one of a name that ends with ``.link`` is a link instead."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in entries.items():
            if f"{name}.link" in entries:
                continue
            entry = zipfile.ZipInfo(name.removesuffix(".link"))
            entry.compress_type = zipfile.ZIP_DEFLATED
            if name.endswith(".link"):
                entry.external_attr = (stat.S_IFLNK | 0o777) << 16
            package.writestr(entry, content)
    return data.getvalue()


def files(path: Path) -> dict[str, bytes]:
    """The bytes of the files in a folder and in those within it."""
    found = [file for file in path.rglob("*") if file.is_file()]
    return {str(file.relative_to(path)): file.read_bytes() for file in found}


def files_of_index(path: Path) -> dict[str, bytes]:
    """The same without the lock, whose file says who has it."""
    return {name: data for name, data in files(path).items() if name != "write.lock"}


def documents(index: Path) -> list[DocumentSummary]:
    """The documents of an index in the order of their ids."""
    with Searcher(index) as searcher:
        return searcher.documents().documents


def ids(index: Path) -> list[str]:
    return [document.source_document for document in documents(index)]


def text_of(index: Path, name: str) -> str:
    """The text of a document of one chunk."""
    with Searcher(index) as searcher:
        (chunk,) = searcher.document_chunks(name).chunks
    return chunk.content


def events(stdout: str) -> list[dict[str, Any]]:
    """The events that a command printed with ``--json``."""
    return [json.loads(line) for line in stdout.splitlines()]


def result(stdout: str) -> dict[str, int]:
    """The numbers of the last event."""
    last = events(stdout)[-1]
    assert last.pop("event") == "finished"
    return {name: number for name, number in last.items() if number and name != "seconds"}


def sync(idx: Idx, *arguments: object, code: int = 0) -> dict[str, int]:
    """Run `idx sync`; the numbers of its end that are not 0."""
    return result(idx("sync", *arguments, "--json", code=code).stdout)


def searched(idx: Idx, *arguments: object) -> Any:
    """The answer of `idx search` for programs."""
    return idx.json("search", *arguments)


def hits(idx: Idx, *arguments: object) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = searched(idx, *arguments)["results"]
    return results


def found(idx: Idx, *arguments: object) -> list[str]:
    """The documents of the hits, best first."""
    return [hit["source_document"] for hit in hits(idx, *arguments)]
