"""Whatever the tools of administration are called with, nothing beyond their roots is touched."""

import time
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, settings, strategies as st

from server.tools.table import TOOLS
from shared import Document, Searcher
from shared.maintenance.check import check
from shared.writing.index import create
from tests.conftest import add_documents
from tests.server.fuzz.strategies import arguments
from tests.server.fuzz.tools import EXAMPLES, Tools, fuzzed

ADMINISTRATION: Final = sorted(name for name, tool in TOOLS.items() if tool.group == "admin")
"""Crawls come after `purge_index`, so that what they find is there to be seen."""

FOLDERS: Final = (
    *("root", "root/papers", "root/letters", "root/papers/..", "root/papers/note.txt"),
    *("root/link", "root/../beside", "root/nowhere", "beside", "index", "", ".."),
)
"""Hypothesis knows nothing of those that there are."""

HIDDEN: Final = "marmalade"


@pytest.mark.soak
def test_any_calls_are_answered_and_touch_nothing_beyond_the_root(tmp_path: Path) -> None:
    notes = {"root/papers": "rent", "root/letters": "deposit", "beside": HIDDEN}
    for name, word in notes.items():
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "note.txt").write_text(f"What is said of the {word}.")
    (tmp_path / "root" / "link").symlink_to(tmp_path / "beside")
    create(tmp_path / "index")
    answered = set()

    folder = st.sampled_from(FOLDERS).map(lambda folder: f"{tmp_path}/{folder}")
    folders = {"directory": folder, "directories": st.lists(folder, min_size=1, max_size=1)}

    options = ("--admin", "--root", str(tmp_path / "root"))
    with fuzzed(tmp_path / "index", tmp_path / "log", *options) as client:
        tools = Tools(client)

        @settings(EXAMPLES, max_examples=10)
        @given(data=st.data())
        def call(tool: str, data: st.DataObject) -> None:
            hostile = arguments(tools.inputs[tool])
            properties = tools.inputs[tool]["properties"]
            plain = st.fixed_dictionaries(
                {name: known for name, known in folders.items() if name in properties}
            )
            answer = tools.check(tool, data.draw(plain if data.draw(st.booleans()) else hostile))
            if not answer.get("result", {"isError": True}).get("isError"):
                answered.add(tool)
                if tool == "start_crawl":
                    wait_for_the_crawl(tools)

        for tool in ADMINISTRATION:
            call(tool)

    assert {"start_crawl", "add_directory", "list_directories"} <= answered
    assert check(tmp_path / "index").sound
    add_documents(tmp_path / "index", Document("mine", "Mine", "Nobody has the lock any more."))
    with Searcher(tmp_path / "index") as searcher:
        assert searcher.search(HIDDEN).totalHits == 0
        files = [document.file_path for document in searcher.documents().documents]
    beneath = str(tmp_path / "root")
    assert all(file is None or file.startswith(f"{beneath}/") for file in files), files
    for name in notes:
        assert (tmp_path / name / "note.txt").exists()


def wait_for_the_crawl(tools: Tools) -> None:
    while True:
        status = tools.check("crawl_status", {})["result"]["structuredContent"]
        if status["ended"]:
            return
        time.sleep(0.05)
