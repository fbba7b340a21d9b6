"""Settings: options over variables over the file over defaults, and what is wrong with them."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
from typer.models import OptionInfo

from idx import options
from shared.configuration import Settings
from shared.settings import VARIABLES, configuration_file
from tests.conftest import PROGRAMS, Idx
from tests.unprivileged import UNPRIVILEGED

ROOT = Path(__file__).parents[2]

PROBE = """
import json
import typer
from idx.__main__ import main
from idx import app, options
from idx.configured_command import ConfiguredCommand
from shared.settings import *

@app.app.command(cls=ConfiguredCommand)
def probe(
    index_path: options.IndexPath = DEFAULT_INDEX_PATH,
    wait: options.Wait = DEFAULT_WAIT,
    include: options.Include = None,
    exclude: options.Exclude = None,
    hidden: options.Hidden = False,
    follow_links: options.FollowLinks = False,
    max_size: options.MaxSize = DEFAULT_MAX_MEGABYTES,
    encoding: options.Encoding = None,
    pdf_engine: options.PdfEngine = DEFAULT_PDF_ENGINE,
    pdf_password: options.PdfPassword = None,
    workers: options.Workers = None,
    timeout: options.Timeout = DEFAULT_TIMEOUT,
    max_memory: options.MaxMemory = DEFAULT_MAX_MEMORY,
) -> None:
    print(json.dumps(locals(), default=str))

main()
"""
"""A command of `idx` with every option, that prints what it was called with."""

# Setting: value in the file, the value that means, the variable, its value, options, their value.
VALUES: dict[str, tuple[str, Any, str, Any, list[str], Any]] = {
    "index_path": ("'/a'", "/a", "b", "b", ["-i", "c"], "c"),
    "wait": ("1", 1.0, "2", 2.0, ["--wait", "3"], 3.0),
    "include": ("['a b']", ["a b"], "b c", ["b", "c"], ["--include", "c d"], ["c d"]),
    "exclude": ("['a']", ["a"], "b", ["b"], ["--exclude", "c", "--exclude", "d"], ["c", "d"]),
    "hidden": ("true", True, "0", False, ["--hidden"], True),
    "follow_links": ("false", False, "true", True, ["--no-follow-links"], False),
    "max_size": ("0.5", 0.5, "2", 2.0, ["--max-size", "3"], 3.0),
    "encoding": ("'cp1252'", "cp1252", "latin1", "latin1", ["--encoding", "x"], "x"),
    "pdf_engine": ("'pdfium'", "pdfium", "auto", "auto", ["--pdf-engine", "pdfium"], "pdfium"),
    "pdf_password": ("'a'", "a", "b", "b", ["--pdf-password", "c"], "c"),
    "workers": ("1", 1, "2", 2, ["--workers", "3"], 3),
    "timeout": ("1", 1.0, "2", 2.0, ["--timeout", "3"], 3.0),
    "max_memory": ("101", 101, "102", 102, ["--max-memory", "103"], 103),
}


def write(text: str) -> Path:
    file = configuration_file()
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return file


def probe(*arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", PROBE, "probe", *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    values: dict[str, Any] = json.loads(done.stdout)
    return values


def shown(idx: Idx) -> dict[str, tuple[Any, str]]:
    settings = json.loads(idx("config", "show", "--json").stdout)["settings"]
    return {name: (setting["value"], setting["from"]) for name, setting in settings.items()}


def test_an_option_beats_the_variable_beats_the_file_beats_the_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert VALUES.keys() == VARIABLES.keys() - {"folders"}
    built_in = probe()
    assert (built_in["index_path"], built_in["max_size"], built_in["workers"]) == (
        "lucene-index",
        50.0,
        None,
    )
    write("".join(f"{name} = {values[0]}\n" for name, values in VALUES.items()))
    assert probe() == {name: values[1] for name, values in VALUES.items()}
    for name, values in VALUES.items():
        monkeypatch.setenv(VARIABLES[name], values[2])
    assert probe() == {name: values[3] for name, values in VALUES.items()}
    given = [argument for values in VALUES.values() for argument in values[4]]
    assert probe(*given) == {name: values[5] for name, values in VALUES.items()}


def test_each_value_is_shown_with_its_origin(
    idx: Idx, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert {origin for _, origin in shown(idx).values()} == {"default"}
    file = write("".join(f"{name} = {values[0]}\n" for name, values in VALUES.items()))
    expected = {name: (values[1], str(file)) for name, values in VALUES.items()}
    expected["pdf_password"] = ("••••", str(file))
    assert shown(idx) == expected | {"folders": ([], "default")}
    for name, values in VALUES.items():
        monkeypatch.setenv(VARIABLES[name], values[2])
    monkeypatch.setenv("IDX_FOLDERS", "a:/b c")
    expected = {name: (values[3], VARIABLES[name]) for name, values in VALUES.items()}
    expected["pdf_password"] = ("••••", "IDX_PDF_PASSWORD")
    paths = [{"path": path, "include": [], "exclude": []} for path in (str(tmp_path / "a"), "/b c")]
    assert shown(idx) == expected | {"folders": (paths, "IDX_FOLDERS")}


def test_the_path_of_the_file_is_shown_also_where_there_is_none(idx: Idx) -> None:
    file = configuration_file()
    assert idx("config", "show").stdout.startswith(f"Configuration file: {file} (does not exist)\n")
    write("hidden = true\nfolders = ['/a', '/b']")
    answer = idx("config", "show").stdout
    assert answer.startswith(f"Configuration file: {file}\n")
    assert re.search(rf"hidden +true +{re.escape(str(file))}\n", re.sub(" +\n", "\n", answer))
    assert "/a, /b" in answer
    shown = json.loads(idx("config", "show", "--json").stdout)
    assert (shown["file"], shown["exists"]) == (str(file), True)


def test_passwords_are_not_shown(idx: Idx, monkeypatch: pytest.MonkeyPatch) -> None:
    write("pdf_password = 'swordfish'")
    for arguments in ([], ["--json"]):
        answer = idx("config", "show", *arguments).stdout
        assert "••••" in answer
        assert "swordfish" not in answer
    monkeypatch.setenv("IDX_PDF_PASSWORD", "swordfish2")
    assert "swordfish" not in idx("config", "show").stdout
    monkeypatch.delenv("IDX_PDF_PASSWORD")
    write("pdf_password = ['swordfish']")
    failed = idx("config", "show", code=1)
    assert "pdf_password: the value should be a valid string" in failed.stderr
    assert "swordfish" not in failed.stderr


def test_the_file_says_where_the_index_is(idx: Idx, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write("index_path = '../here'")
    idx("init")
    assert (file.parents[1] / "here").is_dir()
    monkeypatch.setenv("HOME", str(file.parent))
    write("index_path = '~/at home'")
    assert str(file.parent / "at home") in idx("init").stdout


def test_another_file_may_be_named(
    idx: Idx, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("index_path = 'unused'")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "mine.toml").write_text("index_path = 'index'")
    monkeypatch.setenv("IDX_CONFIG", "deep/mine.toml")
    idx("init")
    assert (tmp_path / "deep" / "index").is_dir()
    assert shown(idx)["index_path"] == (
        str(tmp_path / "deep" / "index"),
        str(tmp_path / "deep" / "mine.toml"),
    )


def test_a_named_file_that_does_not_exist_gets_a_warning(
    idx: Idx, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("IDX_CONFIG", "nothing.toml")
    expected = f"Warning: IDX_CONFIG names {tmp_path}/nothing.toml, which does not exist\n"
    assert idx("init").stderr == expected


def test_nothing_in_the_current_folder_is_configuration(idx: Idx, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("IDX_INDEX_PATH=elsewhere\nIDX_WAIT=-1\n")
    (tmp_path / "config.toml").write_text("index_path = 'elsewhere'")
    (tmp_path / "mcp-lucene").mkdir()
    (tmp_path / "mcp-lucene" / "config.toml").write_text("index_path = 'elsewhere'")
    assert {origin for _, origin in shown(idx).values()} == {"default"}
    idx("init")
    assert (tmp_path / "lucene-index").is_dir()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("wait = 1\n\nhidden =\n", "line 3, column 9: Invalid value"),
        ('wait = """', "Unterminated string (at end of document)"),
        ("# \xff", "line 1: is not UTF-8 text"),
        ("maxsize = 5", "maxsize is no setting; did you mean max_size?"),
        ("[server]\nport = 1", "server is no setting; there are index_path, wait, folders, "),
        ("max_size = '50'", "max_size: the value should be a valid number (it is '50')"),
        ("max_size = true", "max_size: the value should be a valid number (it is True)"),
        ("max_size = nan", "max_size: the value should be a finite number (it is nan)"),
        ("wait = -1", "wait: the value should be greater than or equal to 0 (it is -1)"),
        ("workers = 0", "workers: the value should be greater than or equal to 1 (it is 0)"),
        ("workers = 1.5", "workers: the value should be a valid integer (it is 1.5)"),
        ("hidden = 'yes'", "hidden: the value should be a valid boolean (it is 'yes')"),
        ("include = '*.md'", "include: the value should be a valid list (it is '*.md')"),
        ("pdf_engine = 'x'", "the value should be 'auto', 'pdfium' or 'pdfplumber' (it is 'x')"),
        ("encoding = 'no'", "encoding: there is no such encoding (it is 'no')"),
        ("index_path = 5", "index_path: the value should be a path, in quotes (it is 5)"),
        ("index_path = ''", "index_path: a path is at least one character"),
        ("index_path = 'a'\nwait = []\n[x]", "(it is []); x is no setting"),
        ("folders = 'a'", "folders: the value should be a valid list (it is 'a')"),
        ("folders = ['a', 5]", "folders, number 2: the value should be a path, in quotes, or a "),
        ("folders = [{}]", "folders, number 1, path is missing"),
        (
            "[[folders]]\npath = 'a'\nexclud = []",
            "folders, number 1, exclud is no setting; did you mean exclude?",
        ),
    ],
)
def test_what_is_wrong_in_the_file_is_named(idx: Idx, text: str, reason: str) -> None:
    file = write("")
    file.write_bytes(text.encode("latin-1"))
    failed = idx("config", "show", code=1)
    assert failed.stderr.startswith(f"Error: {file}: ")
    assert reason in failed.stderr
    assert len(failed.stderr.splitlines()) == 1


def test_every_command_that_needs_the_file_says_what_is_wrong_in_it(idx: Idx) -> None:
    file = write("index_path = 'a'\nwiat = 1\n")
    expected = f"Error: {file}: wiat is no setting; did you mean wait?\n"
    for command in (["init"], ["config", "show"], ["folders", "list"], ["folders", "add", "."]):
        assert idx(*command, code=1).stderr == expected
    assert file.read_text() == "index_path = 'a'\nwiat = 1\n"


def test_a_file_that_cannot_be_read_is_named(idx: Idx) -> None:
    file = configuration_file()
    file.mkdir(parents=True)
    for command in (["init"], ["config", "show"]):
        failed = idx(*command, code=1)
        assert failed.stderr == f"Error: {file}: cannot be read: Is a directory\n"
    file.rmdir()
    write("wait = 5")
    for locked in (file, file.parent):
        locked.chmod(0)
        failed = idx("init", code=1, prefix=UNPRIVILEGED)
        assert failed.stderr == f"Error: {file}: cannot be read: Permission denied\n"
        locked.chmod(0o700)


def test_a_wrong_variable_is_named(idx: Idx, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDX_WAIT", "soon")
    assert "IDX_WAIT" in idx("delete", "a", code=2).stderr
    monkeypatch.setenv("IDX_MAX_SIZE", "-3")
    failed = idx("config", "show", code=1).stderr
    assert failed.startswith("Error: the environment: IDX_WAIT: the value should be a valid number")
    assert "IDX_MAX_SIZE: the value should be greater than or equal to 0 (it is '-3')" in failed


def test_a_variable_that_is_misspelled_gets_a_warning_and_others_are_left_alone(
    idx: Idx, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDX_OF_ANOTHER_PROGRAM", "1")
    monkeypatch.setenv("IDX_INDEXPATH", "elsewhere")
    assert idx("init").stderr == (
        "Warning: IDX_INDEXPATH is no setting and has no effect; did you mean IDX_INDEX_PATH?\n"
    )


def test_help_shows_what_is_built_in_whatever_the_file_holds(idx: Idx) -> None:
    write("index_path = '/somewhere/else'\nwait = 77")
    text = idx("delete", "--help").stdout
    assert "lucene-index" in text
    assert "77" not in text
    write("broken")
    assert idx("delete", "--help").stdout == text


@pytest.mark.parametrize("has_file", [False, True])
def test_a_command_reads_only_what_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_file: bool
) -> None:
    if has_file:
        write("wait = 5")
    script = (
        "import sys; sys.argv[1:] = ['init']\n"
        "from idx.__main__ import main\n"
        "try: main()\n"
        "finally: print('IMPORTED', *sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    imported = set(done.stderr.partition("IMPORTED")[2].split())
    assert imported.isdisjoint({"pydantic_settings", "tomlkit", "asyncio"})
    assert ("tomllib" in imported) == has_file


def test_values_are_completed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_PROBE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "probe probe --pdf-engine pdf")
    monkeypatch.setenv("COMP_CWORD", "3")
    script = PROBE.replace("main()\n", "app.app(prog_name='probe')\n")
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["pdfium", "pdfplumber"]


def long_name(option: OptionInfo) -> str:
    # Typer takes the first name as the default until a command is made of it.
    names = (option.default, *(option.param_decls or ()))
    return next(str(name) for name in names if str(name).startswith("--")).partition("/")[0]


def test_every_setting_has_its_variable_its_option_and_its_row_in_the_documentation() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| (\S+) \| (\S+) \|", page, re.MULTILINE)
    assert {name: variable for name, variable, _, _ in rows} == VARIABLES
    assert list(Settings.model_fields) == list(VARIABLES)
    declared = {
        info.envvar: long_name(info)
        for name in options.__all__
        for info in get_args(getattr(options, name))[1:]
        if info.envvar
    }
    documented = {variable: option.strip("`") for _, variable, option, _ in rows}
    assert documented == declared | {"IDX_FOLDERS": "paths"}
    defaults = Settings().model_dump(mode="json") | {"workers": "cores"}
    for name, _, _, default in rows:
        expected = defaults[name]
        if isinstance(expected, float):
            expected = int(expected)
        assert default.strip("`") == str(expected or ("false" if expected is False else "none"))


def test_the_file_of_the_documentation_is_valid(idx: Idx, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "configuration.md").read_text()
    (example,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    file = write(example)
    monkeypatch.setenv("HOME", "/home/me")
    values = shown(idx)
    assert values["index_path"][0] == "/home/me/search/index"
    folders, _ = values["folders"]
    assert [folder["path"] for folder in folders] == [
        "/home/me/Documents",
        str(file.parents[1] / "Work"),
    ]


@pytest.mark.parametrize("named_by", ["argument", "variable", "file"])
def test_the_server_looks_for_its_index_in_the_same_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named_by: str
) -> None:
    from shared.index import create

    create(tmp_path / named_by)
    write(f"index_path = '{tmp_path}/file'")
    if named_by != "file":
        monkeypatch.setenv("IDX_INDEX_PATH", str(tmp_path / "variable"))
    arguments = [str(tmp_path / "argument")] if named_by == "argument" else []
    assert "total_documents" in ask_server(*arguments)


def ask_server(*arguments: str) -> str:
    """What the server answers to a question for its documents."""
    messages: list[dict[str, Any]] = [
        {
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "0"},
            },
        },
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "ListDocuments", "arguments": {}}},
    ]
    with subprocess.Popen(
        [PROGRAMS / "mcp-lucene", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for message in messages:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        server.stdin.flush()
        answers = [server.stdout.readline(), server.stdout.readline()]
        server.stdin.close()
    return answers[1]


def test_the_server_names_what_is_wrong_in_the_file() -> None:
    file = write("index_pat = 'x'")
    done = subprocess.run(
        [PROGRAMS / "mcp-lucene"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (f"Error: {file}: index_pat is no setting; did you mean index_path?\n")
