"""`idx doctor`: each of its findings, on a machine where it is true."""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from idx.clients.catalogue import CLIENTS
from idx.doctor import clients
from shared import Document, Index
from shared.installation import extra_command, software_version
from shared.storage import commits
from shared.writing.index import create
from tests.configured import write
from tests.conftest import Idx, add_documents
from tests.idx.files import make
from tests.idx.volumes import mount, unmount
from tests.programs import PROGRAMS, run
from tests.systems import has_modes, limits_processes, makes_links
from tests.unprivileged import UNPRIVILEGED

pytestmark = pytest.mark.soak

Found = list[tuple[str, str, str]]

PROGRAM = PROGRAMS / "mcp-lucene"


def found(idx: Idx, *arguments: object, **options: Any) -> Found:
    done = idx("doctor", *arguments, "--json", **options)
    findings = listed(done.stdout)
    problems = [check for check, status, _ in findings if status == "problem"]
    assert json.loads(done.stdout)["problems"] == len(problems)
    assert bool(problems) == bool(done.returncode)
    return findings


def listed(stdout: str) -> Found:
    findings = json.loads(stdout)["findings"]
    return [(each["check"], each["status"], each["message"]) for each in findings]


def finding(findings: Found, check: str) -> tuple[str, str]:
    """Status and message of the only finding of a check."""
    ((status, message),) = [found[1:] for found in findings if found[0] == check]
    return status, message


def assert_found(findings: Found, check: str, status: str, words: str) -> None:
    """The only finding of a check must have a status, and words in its message."""
    found, message = finding(findings, check)
    assert (found, words in message) == (status, True), message


def test_where_all_is_well_every_line_is_ok(idx: Idx, home: Path) -> None:
    make(home / "papers", "a.txt", "b.txt")
    create(idx.index)
    idx("sync", "papers")
    idx("mcp-config", "cursor", "--write")
    done = idx("doctor")
    *lines, last = done.stdout.splitlines()
    assert last == "0 problems, 0 warnings"
    assert {line.split()[0] for line in lines} == {"ok"}
    findings = found(idx)
    assert [line.split()[1] for line in lines] == [check.split()[0] for check, _, _ in findings]
    assert finding(findings, "Programs")[1].startswith(f"{PROGRAM}, version ")
    assert finding(findings, "Index")[1].startswith(f"{idx.index}: 2 documents, 2 chunks, ")
    assert finding(findings, "Folder")[1] == f"{home}/papers (in the index)"
    entry = f"mcp-lucene in {home}/.cursor/mcp.json starts {PROGRAM} on {idx.index}"
    assert finding(findings, "Cursor")[1] == entry
    assert "tools and called 2 in " in finding(findings, "Server")[1]


def test_without_an_index_and_a_client_it_says_how_to_get_them(idx: Idx, home: Path) -> None:
    findings = found(idx, code=1)
    told = f"there is no index at {idx.index}; create one with: idx init --index-path {idx.index}"
    assert finding(findings, "Index") == ("problem", told)
    # A client's model is told whom to ask.
    asked = told.replace("; create", "; ask the user to create")
    assert_found(findings, "Server", "problem", f"; it answered: {asked}")
    assert_found(findings, "Clients", "warning", "idx mcp-config CLIENT --write")
    assert {check for check, status, _ in findings if status == "problem"} == {"Index", "Server"}
    assert not idx.index.exists()


def test_a_damaged_index_is_told_by_itself_and_by_the_server(
    idx: Idx, home: Path, empty_index: Path
) -> None:
    add_documents(empty_index, Document("a", "A", "text"))
    next(empty_index.glob("*.si")).write_bytes(b"damaged")
    findings = found(idx, code=1)
    for check in ("Index", "Server"):
        for words in (
            f"the index at {empty_index} is damaged: ",
            "restore a backup with idx restore",
        ):
            assert_found(findings, check, "problem", words)


@limits_processes
def test_an_index_without_documents_and_a_limit_on_memory_are_warnings(
    idx: Idx, home: Path, empty_index: Path
) -> None:
    findings = found(idx, prefix=("prlimit", "--as=90000000000"))
    told = f"{empty_index} holds no documents; add some: idx sync FOLDER"
    assert finding(findings, "Index") == ("warning", told)
    assert_found(findings, "Memory", "warning", "90.0 GB of address space are ")


def test_an_index_of_a_newer_program_and_a_setting_of_one_ask_for_an_upgrade(
    idx: Idx, home: Path, empty_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What writes next is the newer program.
    monkeypatch.setattr(commits, "software_version", lambda: "10.0.0rc1")
    add_documents(empty_index, Document("a", "A", "text"))
    file = write("tone = 1")
    findings = found(idx, code=1)
    newer = (
        "mcp-lucene 10.0.0rc1 has written the index, which is newer than this one "
        f"({software_version()}); upgrade: pip install --upgrade mcp-lucene"
    )
    assert finding(findings, "Version") == ("warning", newer)
    assert_found(findings, "Configuration", "problem", f"{file}: tone is not a setting; ")
    upgrade = (
        f"; fix it, or remove it; if a newer mcp-lucene than {software_version()} wrote it, "
        "upgrade: pip install --upgrade mcp-lucene"
    )
    assert_found(findings, "Configuration", "problem", upgrade)


def test_who_writes_the_index_is_told(idx: Idx, home: Path, empty_index: Path) -> None:
    with Index(empty_index) as index:
        index.add(Document("a", "A", "text"))
        status, message = finding(found(idx), "Writer")
    assert status == "warning"
    # The command may run in this very process.
    assert re.match(rf"the index is locked by (this )?process,? {os.getpid()}\b", message)


@limits_processes
def test_too_little_memory_for_java_is_told_and_what_needs_java_left_out(
    idx: Idx, home: Path, empty_index: Path
) -> None:
    findings = found(idx, code=1, prefix=("prlimit", "--as=1000000000"))
    assert_found(findings, "Java", "problem", "it reserves 1.7 GB of address space")
    assert_found(findings, "Java", "problem", "raise the limit (ulimit -v)")
    assert {"Index", "Server"}.isdisjoint(check for check, _, _ in findings)
    assert finding(findings, "Disk")[0] == "ok"


@has_modes
def test_an_index_below_a_folder_that_may_not_be_searched_ends_no_check(
    idx: Idx, home: Path
) -> None:
    secret = make(home / "secret")
    create(secret / "index")
    secret.chmod(0)
    options = ("--index-path", secret / "index")
    findings = found(idx, *options, code=1, prefix=UNPRIVILEGED)
    secret.chmod(0o700)
    assert finding(findings, "Index")[0] == "problem"
    assert finding(findings, "Disk") == ("ok", finding(findings, "Disk")[1])
    assert findings[-1][0] == "Server"


def test_the_index_of_an_entry_may_be_said_by_the_configuration_or_its_variables(
    idx: Idx, home: Path, empty_index: Path
) -> None:
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    entry: dict[str, Any] = {"command": str(PROGRAM)}

    def told() -> tuple[str, str]:
        file.write_text(json.dumps({"mcpServers": {"mcp-lucene": entry}}))
        return finding(found(idx), "Cursor")

    where = f"mcp-lucene in {file}"
    assert told()[1].startswith(f"{where} names no absolute path")
    entry["env"] = {"IDX_INDEX_PATH": str(empty_index)}
    assert told() == ("ok", f"{where} starts {PROGRAM} on {empty_index}")
    del entry["env"]
    write(f"index_path = '{empty_index}'")
    assert told() == ("ok", f"{where} starts {PROGRAM} on {empty_index}")


@makes_links
def test_a_link_that_leads_nowhere_beside_an_index_to_come_is_no_warning(
    idx: Idx, home: Path
) -> None:
    (home / "link").symlink_to("nowhere")
    assert finding(found(idx, code=1), "Disk")[0] == "ok"


@has_modes
def test_what_is_wrong_with_folders_files_and_permissions_is_told(
    idx: Idx, home: Path, empty_index: Path
) -> None:
    papers = make(home / "papers", "a.txt")
    secret = make(home / "secret", "b.txt")
    make(secret / "inner", "c.txt")
    (papers / "bad.txt").write_text("%PDF-1.7 nothing")
    idx("sync", "papers", code=1)
    idx("sync", "secret")
    write(f"folders = ['{home}/gone', '{secret}/inner']")
    secret.chmod(0)
    empty_index.chmod(0o555)
    findings = found(idx, code=1, prefix=UNPRIVILEGED)
    secret.chmod(0o700)
    empty_index.chmod(0o700)
    assert_found(findings, "Files", "warning", "1 could not be read; see why: idx failures")
    assert_found(findings, "Writer", "warning", "cannot be written by this user")
    told = [found for found in findings if found[0] == "Folder"]
    assert told[1][2].endswith(f"give it up: idx sync --prune-missing {secret}")
    assert told[2][2].endswith(f"give it up: idx folders remove {home}/gone")
    folders = {message.partition(";")[0]: status for _, status, message in told}
    assert folders == {
        f"{papers} (in the index)": "ok",
        f"{secret} cannot be read by this user": "problem",
        f"{home}/gone is missing, or cannot be reached": "problem",
        f"{secret}/inner is missing, or cannot be reached": "problem",
    }


def test_wrong_settings_do_not_keep_it_from_looking_at_the_rest(idx: Idx, home: Path) -> None:
    disk = mount(idx.folder / "disk", "1m")
    try:
        create(disk / "index")
        file = write("wait = -1")
        idx.setenv("IDX_FOLDER", "/a")
        findings = found(idx, "-i", disk / "index", code=1)
    finally:
        unmount(disk)
    assert_found(findings, "Configuration", "problem", f"{file}: wait: ")
    assert finding(findings, "Configuration")[1].endswith("; fix it, or remove it")
    assert finding(findings, "Variables") == (
        "warning",
        "IDX_FOLDER is not a setting and has no effect; did you mean 'IDX_FOLDERS'?",
    )
    assert_found(findings, "Disk", "problem", "; writing will fail: free some space")
    assert finding(findings, "Index")[1].startswith(f"{disk}/index holds no documents")
    # It cannot start with them either.
    assert finding(findings, "Server")[0] == "problem"


@pytest.mark.parametrize(
    ("client", "text", "status", "words"),
    [
        (
            "cursor",
            '{"mcpServers": {"a": {"command": "/no/mcp-lucene"}}}',
            "problem",
            "not a program",
        ),
        ("cursor", '{"mcpServers": {"a": {"command": "PROGRAM"}}}', "warning", "no absolute path"),
        (
            "claude-code",
            '{"mcpServers": {"a": {"command": "PROGRAM", "args": ["/no/index"]}}}',
            "problem",
            "names the index /no/index, which does not exist",
        ),
        (
            "cursor",
            '{"mcpServers": {"a": {"command": "PROGRAM", "args": ["opensearch://u:pw@h/a"]}}}',
            "problem",
            "must not contain a user or password",
        ),
        ("cursor", "{", "warning", "is not valid JSON: line 1, column 2"),
        ("codex-cli", "[", "warning", "is not valid TOML: "),
    ],
)
def test_a_client_that_is_told_something_wrong_is_told_about(
    home: Path, client: str, text: str, status: str, words: str
) -> None:
    file = CLIENTS[client].file("user")
    file.parent.mkdir(exist_ok=True)
    file.write_text(text.replace("PROGRAM", str(PROGRAM)))
    (finding,) = clients()
    assert (finding.check, finding.status) == (CLIENTS[client].title, status)
    assert str(file) in finding.message
    assert words in finding.message
    if "not valid" not in words:
        command = f"idx mcp-config {client} --scope user --name a --write"
        assert command in finding.message


def test_a_client_on_a_cluster_is_as_it_should_be(home: Path) -> None:
    file = CLIENTS["cursor"].file("user")
    file.parent.mkdir(exist_ok=True)
    entry = {"command": str(PROGRAM), "args": ["opensearch://search.example:9200/a"]}
    file.write_text(json.dumps({"mcpServers": {"a": entry}}))
    (finding,) = clients()
    assert finding.status == "ok"
    assert finding.message.endswith(" on opensearch://search.example:9200/a")


BEFORE = {
    "another system": "import platform; platform.system = lambda: 'Darwin'",
    "no cache": (
        "from shared.java import startup_cache as c; c.path = lambda: Path('nothing.aot'); "
        "c.train_in_background = lambda: None"
    ),
    "no extra": (
        "import importlib.metadata as m; "
        "m.requires = lambda _: ['nothing-at-all>=1; extra == \"evaluation\"']"
    ),
    "other programs": (
        "import sys, sysconfig; sys.executable = 'programs/python'; "
        "sysconfig.get_path = lambda *_: 'programs'"
    ),
    "little patience": "import idx.commands.doctor as s; s.SERVER_TIMEOUT_SECONDS = 3",
}
"""What makes one thing look broken that no test may break for the others."""


def found_by(folder: Path, *broken: str, **environment: str) -> Found:
    lines = ["from pathlib import Path", *(BEFORE[name] for name in broken)]
    script = "\n".join([*lines, "from idx.__main__ import main", "main()"])
    done = run(
        *(sys.executable, "-c", script, "doctor", "--json"),
        cwd=folder,
        env={**os.environ, **environment},
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return listed(done.stdout)


def program(folder: Path, text: str) -> Path:
    """The only `mcp-lucene` of an installation."""
    file = folder / "programs" / "mcp-lucene"
    file.parent.mkdir()
    file.write_text(text)
    file.chmod(0o755)
    return file


def test_another_system_a_missing_cache_extra_and_server_are_told(
    home: Path, empty_index: Path
) -> None:
    findings = found_by(home, "another system", "no cache", "no extra", "other programs")
    assert_found(findings, "Python", "warning", "on Darwin")
    train = "python -m shared.maintenance.train_startup"
    assert_found(findings, "Start-up cache", "warning", train)
    extras = [message for check, status, message in findings if (check, status) == ("Extra", "ok")]
    assert extra_command("evaluation") in "".join(extras)
    missing = "there is no program mcp-lucene in programs; install mcp-lucene again"
    assert finding(findings, "Programs") == ("problem", missing)
    assert "Server" not in {check for check, _, _ in findings}


def test_a_pylucene_that_cannot_be_loaded_is_told(home: Path) -> None:
    package = home / "broken" / "lucene"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('libjvm.so: not found')")
    path = f"{package.parent}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    findings = found_by(home, PYTHONPATH=path)
    reason = "Lucene cannot be loaded: libjvm.so: not found; install it again: pip install --"
    assert_found(findings, "Lucene", "problem", reason)
    assert {"Java", "Index", "Server"}.isdisjoint(check for check, _, _ in findings)
    assert finding(findings, "Clients")[0] == "warning"


@has_modes
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("#!/bin/sh\necho starting >&2\necho 'no module named x' >&2\nexit 3\n", "no module nam"),
        ("#!/no/such/interpreter\n", "No such file or directory"),
        ("#!/bin/sh\nsleep 100\n", "it took more than 3 s"),
        (f"#!/bin/sh\nexec {PROGRAMS}/mcp-lucene /no/index\n", "it answered: there is no index"),
    ],
)
def test_a_server_that_cannot_be_asked_is_told(
    home: Path, empty_index: Path, text: str, words: str
) -> None:
    file = program(home, text)
    patience = ["little patience"] if "took more" in words else []
    findings = found_by(home, "other programs", *patience)
    assert_found(findings, "Server", "problem", words)
    if "answered" not in words:
        asked = f"{file} {empty_index} cannot be asked: "
        assert_found(findings, "Server", "problem", asked)
        assert_found(findings, "Server", "problem", "; start it in a terminal to see more")
