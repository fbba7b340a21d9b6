"""Characters that steer a terminal, in names, titles and texts: none reaches one."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from shared import Document, create
from tests.conftest import Idx, add_documents
from tests.idx.output.test_terminal import on_a_terminal
from tests.programs import PROGRAMS
from tests.systems import has_terminals

CHARACTERS = {
    "escape": "\x1b]0;owned\x07",
    "carriage return": "\r",
    "delete": "\x7f",
    "C1": "\x9b2J\x85",
    "direction": "\u061c\u200e\u200f",
    "embedding": "\u202a\u202b\u202c\u202d\u202e",
    "isolate": "\u2066\u2067\u2068\u2069",
}
_ALL = {
    character for kind in CHARACTERS.values() for character in kind if not character.isprintable()
}

COMMANDS: dict[str, list[str]] = {
    "list": ["list"],
    "list --plain": ["list", "--plain"],
    "list --json": ["list", "--json"],
    "search": ["search", "rent"],
    "search --plain": ["search", "rent", "--plain"],
    "search --json": ["search", "rent", "--json"],
    "search --facet": ["search", "rent", "--facet", "file_path", "--facet", "mood"],
    "search --explain": ["search", "NAME rent", "--explain"],
    "search without a hit": ["search", "NAMEqqqqqq"],
    "search of a wrong query": ["search", "NAME AND ("],
    "show": ["show", "idNAME"],
    "show --details": ["show", "idNAME", "--details"],
    "show --json": ["show", "idNAME", "--json"],
    "show of an unknown id": ["show", "NAME"],
    "delete of an unknown id": ["delete", "NAME"],
    "failures": ["failures"],
    "failures --plain": ["failures", "--plain"],
    "failures --json": ["failures", "--json"],
    "stats": ["stats"],
    "stats --json": ["stats", "--json"],
    "fields": ["fields"],
    "terms": ["terms", "mood"],
    "folders": ["folders", "add", "FOLDER"],
    "sync": ["sync", "FOLDER", "--retry"],
    "sync --json": ["sync", "FOLDER", "--retry", "--json"],
    "add": ["add", "FOLDER"],
    "sync --dry-run": ["sync", "FOLDER", "--dry-run", "--retry"],
    "bulk": ["bulk", "-j", "FOLDER/bulkNAME.json"],
    "backup": ["backup", "FOLDER/NAME"],
    "mcp-config": ["mcp-config", "cursor"],
    "mcp-config of Codex": ["mcp-config", "codex-cli"],
    "doctor": ["doctor"],
    "config": ["config", "set", "NAME", "NAME"],
    "an unknown option": ["list", "--NAME"],
    "an unknown command": ["NAME"],
    "an extra argument": ["stats", "NAME"],
    "a wrong value": ["list", "--limit", "NAME"],
    "an index that does not exist": ["list", "-i", "FOLDER/NAME"],
}


LIKE_ANOTHER = {
    *("search --plain", "search --json", "show --json", "failures --plain", "failures --json"),
    *("stats --json", "delete of an unknown id", "fields", "add", "doctor"),
    *("an unknown option", "an extra argument"),
}
"""Commands that print by the same functions as others here."""

UNNAMED = {"stats", "stats --json", "fields", "terms", "doctor", "config"}
"""Commands that tell of the index without the names in it."""

NAME = "".join(CHARACTERS.values())


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A folder and an index with the characters in paths, ids, titles, texts and metadata."""
    place = tmp_path_factory.mktemp("hostile")
    folder, index = place / f"papers{NAME}", place / f"index{NAME}"
    create(index)
    folder.mkdir()
    (folder / f"a{NAME}.txt").write_text(f"The rent {NAME} is due.")
    (folder / f"broken{NAME}.pdf").write_bytes(b"%PDF-1.7 no more than this")
    entries = [{"Id": f"b{NAME}", "Title": NAME, "Content": ""}]
    (folder / f"bulk{NAME}.json").write_text(json.dumps(entries))
    text = f"The {NAME} rent{NAME} is"
    add_documents(index, Document(f"id{NAME}", f"Title{NAME}", text, {"mood": f"m{NAME}"}))
    synced = (PROGRAMS / "idx", "sync", folder, "-i", index)
    assert subprocess.run(synced, capture_output=True, check=False).returncode == 1
    return folder, index


def steering(shown: str) -> set[str]:
    """The kinds of characters that are in what a terminal shows."""
    shown = shown.replace("\r\n", "\n")
    return {kind for kind, characters in CHARACTERS.items() if {*characters} & {*shown} & _ALL}


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(command, marks=pytest.mark.soak if command in LIKE_ANOTHER else ())
        for command in COMMANDS
    ],
)
def test_nothing_steers_the_terminal(hostile: tuple[Path, Path], command: str) -> None:
    folder, index = hostile
    arguments = [
        word.replace("FOLDER", str(folder)).replace("NAME", NAME) for word in COMMANDS[command]
    ]
    shown = on_a_terminal(*arguments, NO_COLOR="1", TERM="dumb", IDX_INDEX_PATH=str(index))
    assert "Traceback" not in shown
    assert steering(shown) == set()
    # It is about those names.
    assert r"\u202e" in re.sub(r"[\s│]", "", shown) or command in UNNAMED


def test_json_with_escapes_is_the_same(hostile: tuple[Path, Path]) -> None:
    _, index = hostile
    for command in (["list"], ["search", "rent"], ["show", f"id{NAME}"]):
        program: list[str | Path] = [PROGRAMS / "idx", *command, "--json", "-i", index]
        shown = subprocess.run(program, capture_output=True, check=True).stdout.decode()
        assert steering(shown) == set()
        assert json.dumps(f"id{NAME}") in json.dumps(json.loads(shown))


@has_terminals
def test_texts_lose_the_marks_of_direction_on_a_terminal_only(idx: Idx, empty_index: Path) -> None:
    word = "\u05e9\u05db\u05e8"
    name, text = f"a\u200f{word}", f"{word} (\u200f{word}\u200f) 2"
    add_documents(empty_index, Document(name, f"{word}\u200f 1", text))
    for command in (["search", word], ["list"]):
        shown = on_a_terminal(*command, "-i", empty_index, NO_COLOR="1", TERM="dumb")
        assert f"{word} 1" in shown
        assert rf"a\u200f{word}" in shown
        piped = idx(*command).stdout
        assert f"{word}\u200f 1" in piped
        assert f"a\u200f{word}" in piped
    shown = on_a_terminal("show", name, "-i", empty_index)
    assert rf"a\u200f{word}" in shown
    assert f"{word} 1" in shown
    assert f"{word} ({word}) 2" in shown
    piped = idx("show", name).stdout
    assert all(shown in piped for shown in (name, f"{word}\u200f 1", text))
