"""Deep nesting leaves a process that runs Java alive, whose threads overflow their stacks sooner.

Readers of files run in processes without Java. None of them depends on that: each reads what is
nested deeply in the main thread of a process that runs Java, and in another thread of it.
"""

import re
import sys
from pathlib import Path
from typing import Final

import pytest

from shared import Document, Searcher
from tests.configured import write
from tests.conftest import Connect, Idx, add_documents
from tests.idx.files import events, make
from tests.idx.nested import NESTED
from tests.programs import run
from tests.server.tool_answers import answer

pytestmark = pytest.mark.usefixtures("empty_index")

READING: Final = """
import sys, threading
from pathlib import Path

from idx.extraction.types import ExtractionOptions
from idx.extraction.formats import extract_from
from shared.java import vm
from shared.errors import McpLuceneError


def read(name):
    try:
        with vm.attached(), open(name, "rb") as file:
            print(name, "read", len(extract_from(file, Path(name), options).text), flush=True)
    except McpLuceneError as error:
        print(name, "refused", error, flush=True)


engine, *names = sys.argv[1:]
options = ExtractionOptions(pdf_engine=engine)
vm.start()
for name in names:
    read(name)
    thread = threading.Thread(target=read, args=[name])
    thread.start()
    thread.join()
"""

ENGINES: Final = {
    "pdfium": [*NESTED],
    "pdfplumber": [name for name in NESTED if name.endswith(".pdf")],
}


@pytest.mark.soak
@pytest.mark.parametrize("engine", ENGINES)
def test_a_reader_beside_java_survives_what_is_nested_deeply(tmp_path: Path, engine: str) -> None:
    names = ENGINES[engine]
    for name in names:
        (tmp_path / name).write_bytes(NESTED[name]())
    done = run(
        sys.executable, "-c", READING, engine, *names, cwd=tmp_path, check=False, timeout=120
    )
    # The last line names what ended the process.
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    ends = re.findall(r"^(\S+) (?:read \d+|refused .+)$", done.stdout, re.MULTILINE)
    assert ends == [name for name in names for _ in range(2)]


def test_no_reader_of_a_folder_crashes_on_what_is_nested_deeply(idx: Idx) -> None:
    papers = make(idx.folder / "papers")
    for name, content in NESTED.items():
        (papers / name).write_bytes(content())
    (papers / "plain.txt").write_text("needle")
    told = events(idx("sync", papers, "--json", code=1).stdout)
    reasons = {
        event["source_document"]: event["reason"]
        for event in told
        if event["event"] == "notindexed"
    }
    assert reasons
    assert not [reason for reason in reasons.values() if re.search("crashed|of its own", reason)]
    with Searcher(idx.index) as searcher:
        read = {entry.source_document for entry in searcher.documents().documents}
    assert read | reasons.keys() == {*NESTED, "plain.txt"}
    assert "plain.txt" in read


def test_a_process_that_reads_files_runs_without_java() -> None:
    lists_modules = "import sys, idx.extraction.worker, idx.pdf.reader; print(*sys.modules)"
    listed = run(sys.executable, "-c", lists_modules).stdout.split()
    assert "idx.office.rtf" in listed
    assert "lucene" not in listed


QUERIES: Final = {
    "parentheses": "(" * 9_000 + "a" + ")" * 9_000,
    "parentheses that stay open": "(" * 19_000,
    "expressions": f"/{'(' * 9_000}a{')' * 9_000}/",
    "repetitions": f"/{'(' * 5_000}a{'*)' * 5_000}/",
    "weights": "(" * 6_000 + "a" + ")^2" * 4_000,
    "exclusions": "a " + "-(" * 9_000 + "a",
}


ENDS: Final = (
    "nested too deeply",
    "the query ends too early",
    "may have 200 letters",
    "0 chunks match",
)
"""What may be said of them: the larger the stack, the more of them Lucene can read."""


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_that_is_nested_deeply_ends_in_order(idx: Idx, name: str) -> None:
    code = 0 if name == "parentheses" else 1
    told = idx("search", QUERIES[name], "--syntax", "lucene", code=code).stderr
    assert any(end in told for end in ENDS), told


def test_json_that_is_nested_deeply_is_an_error_beside_java() -> None:
    # From 3.12 on, Python goes deeper than Java leaves stack to the first thread by default; before
    # that, with this limit.
    program = (
        "import json, sys; from shared.java import vm; vm.start(); "
        "sys.setrecursionlimit(10_000); json.loads('[' * 100_000)"
    )
    done = run(sys.executable, "-c", program, check=False)
    assert done.returncode == 1
    assert "RecursionError" in done.stderr


async def test_a_server_outlives_queries_that_are_nested_deeply(
    empty_index: Path, connect: Connect
) -> None:
    add_documents(empty_index, Document("a", "A", "needle"))
    async with connect() as client:
        for query in QUERIES.values():
            await client.call_tool("Search", {"query": query, "syntax": "lucene"})
        found = answer(await client.call_tool("Search", {"query": "needle"}))
    assert found["totalHits"] == 1


CONFIGURATIONS: Final = {
    "lists": "workers = " + "[" * 100_000,
    "tables": "workers = " + "{a = " * 5_000,
    "keys": "a." * 2_000 + "a = 1",
    "headings": "[" + "a." * 2_000 + "a]",
}


@pytest.mark.parametrize("text", CONFIGURATIONS.values(), ids=CONFIGURATIONS)
def test_a_configuration_that_is_nested_deeply_is_refused(idx: Idx, text: str) -> None:
    file = write(text)
    (message,) = idx("search", "needle", code=1).stderr.splitlines()
    assert message.startswith(f"Error: {file}: ")
