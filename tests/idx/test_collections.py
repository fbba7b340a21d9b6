"""`idx collections`: parts of the index by name, in searches, lists and the configuration file."""

import re
from pathlib import Path

import pytest

from shared.settings.current import configuration_file
from tests.configured import write
from tests.conftest import Idx
from tests.idx.files import found, searched

BY_HAND = """\
wait = 5  # five seconds

# What is signed.
[[collections]]
name = "contracts"  # the first
filters = ["year>=2020"]

[[folders]]
path = "/nowhere"
"""


@pytest.fixture
def contracts(idx: Idx, tmp_path: Path) -> Path:
    """A folder of contracts beside other files, all in the index."""
    for name, text in {
        "contracts/lease.txt": "The deposit is three rents.",
        "contracts/2024/car.txt": "The deposit is one instalment.",
        "contracts-old/house.txt": "The deposit was paid back.",
        "letter.txt": "Where is my deposit?",
    }.items():
        (tmp_path / "files" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "files" / name).write_text(text)
    idx("sync", "files")
    return tmp_path / "files" / "contracts"


def test_a_folder_and_filters_make_collections(idx: Idx, contracts: Path) -> None:
    added = idx(
        *("collections", "add", "signed", "--folder", contracts, "--description", "All  signed.")
    )
    assert added.stdout == f"Added the collection signed in {configuration_file()}\n"
    idx("collections", "add", "cars", "--filter", "file_name=car.txt", "--filter", "language!=de")
    idx("collections", "add", "unknown", "--filter", "country=fr")
    assert idx.json("collections", "list") == [
        {
            "name": "signed",
            "description": "All signed.",
            "folder": str(contracts),
            "filters": [],
            "documents": 2,
        },
        {
            "name": "cars",
            "description": "",
            "folder": None,
            "filters": ["file_name=car.txt", "language!=de"],
            "documents": 1,
        },
        {
            "name": "unknown",
            "description": "",
            "folder": None,
            "filters": ["country=fr"],
            "documents": 0,
        },
    ]
    examined = idx("doctor").stdout
    assert re.search(r"ok +Collection +signed has 2 documents", examined), examined
    assert re.search(r"warning +Collection +unknown has no documents; look at its", examined)
    table = idx("collections", "list").stdout
    assert "signed" in table
    assert "All signed." in table
    signed = searched(idx, "deposit", "--collection", "signed", "--facet", "collection")
    results = {hit["source_document"] for hit in signed["results"]}
    assert results == {"contracts/lease.txt", "contracts/2024/car.txt"}
    assert signed["facets"][0]["values"] == [
        {"value": "signed", "count": 2},
        {"value": "cars", "count": 1},
    ]
    assert {*found(idx, "deposit", "--filter", "collection!=signed")} == {
        "contracts-old/house.txt",
        "letter.txt",
    }
    assert {*found(idx, "deposit", "-c", "cars")} == {"contracts/2024/car.txt"}
    listed = idx.json("list", "--collection", "signed")
    assert listed["total_documents"] == 2
    fields = idx.json("fields")["fields"]
    assert [field["examples"] for field in fields if field["name"] == "collection"] == [
        ["signed", "cars", "unknown"]
    ]


def test_the_name_never_means_what_a_document_says(idx: Idx, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\ncollection: stamps\n---\ntext")
    idx("add", "a.md")
    assert {*found(idx, "", "--filter", "x-collection=stamps")} == {"a.md"}
    refused = idx("search", "", "--collection", "stamps", code=1)
    assert "there is no collection 'stamps'; there are none" in refused.stderr


def test_the_rest_of_the_file_stays(idx: Idx) -> None:
    file = write(BY_HAND)
    idx("collections", "add", "german", "--filter", "language=de")
    text = file.read_text()
    assert text.startswith(BY_HAND.rpartition("[[folders]]")[0])
    idx("collections", "remove", "german")
    assert file.read_text().split() == BY_HAND.split()
    replaced = idx("collections", "add", "contracts", "--filter", "year>=2021")
    assert replaced.stdout.startswith("Replaced the collection contracts")
    assert "2021" in file.read_text()
    assert "2020" not in file.read_text()
    idx("collections", "remove", "contracts")
    assert "contracts" not in file.read_text()
    missing = idx("collections", "remove", "contracts", code=1)
    assert "has no collection contracts; see idx collections list" in missing.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a b", "--filter", "x=1"], "should be a name of at most 60 letters, digits, dots"),
        (["a"], "a collection needs a folder or filters"),
        (["a", "--filter", "language"], "the filter 'language' is not valid"),
        (["a", "--filter", "collection=b"], "cannot be made of other collections"),
        (["a", "--filter", "x=1", "--description", "d" * 301], "at most 300 characters"),
    ],
)
def test_what_cannot_be_one_is_refused_and_changes_nothing(
    idx: Idx, arguments: list[str], message: str
) -> None:
    assert message in idx("collections", "add", *arguments, code=1).stderr
    assert not configuration_file().exists()


def test_a_name_that_is_not_one_is_an_error_with_the_right_one(idx: Idx, contracts: Path) -> None:
    idx("collections", "add", "signed", "--folder", contracts)
    for command in ("search", "list"):
        words = ["deposit"] if command == "search" else []
        refused = idx(command, *words, "--collection", "singed", code=1)
        assert "there is no collection 'singed'; did you mean 'signed'?" in refused.stderr


def test_the_variable_replaces_those_of_the_file(idx: Idx, contracts: Path) -> None:
    idx("collections", "add", "signed", "--folder", contracts)
    idx.setenv("IDX_COLLECTIONS", '[{"name": "cars", "filters": ["file_name=car.txt"]}]')
    (only,) = idx.json("collections", "list")
    assert (only["name"], only["documents"]) == ("cars", 1)
    warned = idx("collections", "add", "more", "--filter", "x=1")
    assert "IDX_COLLECTIONS is set and overrides" in warned.stderr
    idx.setenv("IDX_COLLECTIONS", '[{"name": "cars"}]')
    assert "IDX_COLLECTIONS" in idx("search", "deposit", code=1).stderr
