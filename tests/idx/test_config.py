"""Settings: options over variables over the file over defaults, and what is wrong with them."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from typer.models import OptionInfo

from idx.cli import options
from shared.settings.current import configuration_file
from shared.settings.defaults import VARIABLES
from shared.settings.model import Settings
from tests.configured import shown, write
from tests.conftest import Idx
from tests.programs import run

ROOT = Path(__file__).parents[2]

PROBE = """
import json
import typer
from dataclasses import asdict
from idx.__main__ import main
from idx import app
from idx.cli import options
from idx.cli.configured_command import ConfiguredCommand
from shared.settings.defaults import *

@app.app.command(cls=ConfiguredCommand)
@options.takes(options.ReadingOptions, "reading")
@options.takes(options.RewritingOptions, "rewriting")
@options.takes(options.AnswerOptions, "answering")
def probe(
    index_path: options.IndexPath = DEFAULT_INDEX_PATH,
    wait: options.Wait = DEFAULT_WAIT,
    *,
    reading: options.ReadingOptions,
    rewriting: options.RewritingOptions,
    answering: options.AnswerOptions,
) -> None:
    values = asdict(reading) | asdict(rewriting) | asdict(answering)
    print(json.dumps({"index_path": index_path, "wait": wait} | values, default=str))

main()
"""
"""A command of `idx` with every option, that prints what it was called with."""

WITHOUT_OPTION = {"folders", "collections", "originals", "java_heap", "semantic"}
"""Settings without an option of all commands; `idx semantic on` calls its own `--model`."""

# Setting: value in the file, the value that means, the variable, its value, options, their value.
VALUES: dict[str, tuple[str, Any, str, Any, list[str], Any]] = {
    "index_path": ("'/a'", "/a", "b", "b", ["-i", "c"], "c"),
    "wait": ("1", 1.0, "2", 2.0, ["--wait", "3"], 3.0),
    "include": ("['a b']", ["a b"], "b c", ["b", "c"], ["--include", "c d"], ["c d"]),
    "exclude": ("['a']", ["a"], "b", ["b"], ["--exclude", "c", "--exclude", "d"], ["c", "d"]),
    "hidden": ("true", True, "0", False, ["--hidden"], True),
    "follow_links": ("false", False, "true", True, ["--no-follow-links"], False),
    "allow_secrets": ("['/a']", ["/a"], "/b:/c", ["/b", "/c"], ["--allow-secret", "d"], ["d"]),
    "max_size": ("0.5", 0.5, "2", 2.0, ["--max-size", "3"], 3.0),
    "max_rows": ("5", 5, "6", 6, ["--max-rows", "7"], 7),
    "encoding": ("'cp1252'", "cp1252", "latin1", "latin1", ["--encoding", "x"], "x"),
    "layout": ("'keep'", "keep", "join", "join", ["--layout", "keep"], "keep"),
    "pdf_engine": ("'pdfium'", "pdfium", "auto", "auto", ["--pdf-engine", "pdfium"], "pdfium"),
    "pdf_password": ("'a'", "a", "b", "b", ["--pdf-password", "c"], "c"),
    "ocr": ("'off'", "off", "auto", "auto", ["--ocr", "force"], "force"),
    "ocr_languages": ("'deu'", "deu", "eng", "eng", ["--ocr-languages", "fra+eng"], "fra+eng"),
    "workers": ("1", 1, "2", 2, ["--workers", "3"], 3),
    "timeout": ("1", 1.0, "2", 2.0, ["--timeout", "3"], 3.0),
    "max_memory": ("101", 101, "102", 102, ["--max-memory", "103"], 103),
    "normalize": ("true", True, "0", False, ["--normalize"], True),
    "normalizer_model": ("'a'", "a", "b", "b", ["--normalizer-model", "c"], "c"),
    "normalizer_url": (
        *("'http://a/v1'", "http://a/v1", "http://b", "http://b"),
        *(["--normalizer-url", "http://c"], "http://c"),
    ),
    "normalizer_timeout": ("1", 1.0, "2", 2.0, ["--normalizer-timeout", "3"], 3.0),
    "answer_model": ("'a'", "a", "b", "b", ["--model", "c"], "c"),
    "answer_url": (
        *("'http://a/v1'", "http://a/v1", "http://b", "http://b"),
        *(["--model-url", "http://c"], "http://c"),
    ),
    "answer_timeout": ("1", 1.0, "2", 2.0, ["--model-timeout", "3"], 3.0),
    "answer_max_tokens": ("101", 101, "102", 102, ["--max-tokens", "103"], 103),
}


def probe(*arguments: str) -> dict[str, Any]:
    done = run(sys.executable, "-c", PROBE, "probe", *arguments)
    assert done.stderr == ""
    values: dict[str, Any] = json.loads(done.stdout)
    return values


def test_an_option_beats_the_variable_beats_the_file_beats_the_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert VALUES.keys() == VARIABLES.keys() - WITHOUT_OPTION
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


def test_each_value_is_shown_with_its_origin(idx: Idx) -> None:
    idx.delenv("IDX_SEMANTIC")
    assert {origin for _, origin in shown(idx).values()} == {"default"}
    file = write("".join(f"{name} = {values[0]}\n" for name, values in VALUES.items()))
    expected = {name: (values[1], str(file)) for name, values in VALUES.items()}
    expected["pdf_password"] = ("••••", str(file))
    others = {
        "folders": ([], "default"),
        "collections": ([], "default"),
        "originals": ([], "default"),
        "java_heap": (512, "default"),
        "semantic": (None, "default"),
    }
    assert shown(idx) == expected | others
    for name, values in VALUES.items():
        idx.setenv(VARIABLES[name], values[2])
    idx.setenv("IDX_FOLDERS", "a:/b c")
    expected = {name: (values[3], VARIABLES[name]) for name, values in VALUES.items()}
    expected["pdf_password"] = ("••••", "IDX_PDF_PASSWORD")
    paths = [
        {"path": path, "include": [], "exclude": []} for path in (str(idx.folder / "a"), "/b c")
    ]
    assert shown(idx) == expected | others | {"folders": (paths, "IDX_FOLDERS")}


def test_the_path_of_the_file_is_shown_also_where_there_is_none(idx: Idx) -> None:
    file = configuration_file()
    assert idx("config", "show").stdout.startswith(f"Configuration file: {file} (does not exist)\n")
    write("hidden = true\nfolders = ['/a', '/b']")
    answer = idx("config", "show").stdout
    assert answer.startswith(f"Configuration file: {file}\n")
    assert re.search(rf"hidden\ttrue\t{re.escape(str(file))}\n", answer)
    assert "/a, /b" in answer
    shown = idx.json("config", "show")
    assert (shown["file"], shown["exists"]) == (str(file), True)


def test_passwords_are_not_shown(idx: Idx) -> None:
    write("pdf_password = 'swordfish'")
    for arguments in ([], ["--json"]):
        answer = idx("config", "show", *arguments).stdout
        assert "••••" in answer
        assert "swordfish" not in answer
    idx.setenv("IDX_PDF_PASSWORD", "swordfish2")
    assert "swordfish" not in idx("config", "show").stdout
    idx.delenv("IDX_PDF_PASSWORD")
    write("pdf_password = ['swordfish']")
    failed = idx("config", "show", code=1)
    assert "pdf_password: the value should be a valid string" in failed.stderr
    assert "swordfish" not in failed.stderr


def test_the_file_says_where_the_index_is(idx: Idx) -> None:
    file = write("index_path = '../here'")
    idx("init")
    assert (file.parents[1] / "here").is_dir()
    idx.setenv("HOME", str(file.parent))
    write("index_path = '~/at home'")
    assert str(file.parent / "at home") in idx("init").stdout


def test_another_file_may_be_named(idx: Idx) -> None:
    write("index_path = 'unused'")
    (idx.folder / "deep").mkdir()
    (idx.folder / "deep" / "mine.toml").write_text("index_path = 'index'")
    idx.setenv("IDX_CONFIG", "deep/mine.toml")
    idx("init")
    assert (idx.folder / "deep" / "index").is_dir()
    assert shown(idx)["index_path"] == (
        str(idx.folder / "deep" / "index"),
        str(idx.folder / "deep" / "mine.toml"),
    )


def test_a_named_file_that_does_not_exist_gets_a_warning(idx: Idx) -> None:
    idx.setenv("IDX_CONFIG", "nothing.toml")
    expected = f"Warning: IDX_CONFIG names {idx.folder}/nothing.toml, which does not exist\n"
    assert idx("init").stderr == expected


def test_help_shows_what_is_built_in_whatever_the_file_holds(idx: Idx) -> None:
    write("index_path = '/somewhere/else'\nwait = 77")
    text = idx("delete", "--help").stdout
    assert "lucene-index" in text
    assert "77" not in text
    write("broken")
    assert idx("delete", "--help").stdout == text


def declared_options() -> Iterator[tuple[str, OptionInfo]]:
    """Those of commands one by one, and those in groups, each with the name of its parameter."""
    groups = (options.ReadingOptions, options.RewritingOptions, options.AnswerOptions)
    types = [each for group in groups for each in group.__annotations__.items()]
    for name, each in (*vars(options).items(), *types):
        yield from ((name, info) for info in get_args(each) if isinstance(info, OptionInfo))


def long_name(parameter: str, option: OptionInfo) -> str:
    # Typer takes the first name as the default until a command is made of it.
    names = (option.default, *(option.param_decls or ()))
    given = (str(name).partition("/")[0] for name in names if str(name).startswith("--"))
    return next(given, f"--{parameter.lower().replace('_', '-')}")


def test_every_setting_has_its_variable_its_option_and_its_row_in_the_documentation() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| (\S+) \| (\S+) \|", page, re.MULTILINE)
    assert {name: variable for name, variable, _, _ in rows} == VARIABLES
    assert list(Settings.model_fields) == list(VARIABLES)
    declared = {
        info.envvar: long_name(name, info) for name, info in declared_options() if info.envvar
    }
    documented = {variable: option.strip("`") for _, variable, option, _ in rows}
    assert documented == declared | {
        "IDX_FOLDERS": "paths",
        "IDX_COLLECTIONS": "none",
        "IDX_ORIGINALS": "none",
        "IDX_JAVA_HEAP": "none",
        "IDX_SEMANTIC": "none",
    }
    defaults = Settings().model_dump(mode="json") | {"workers": "cores", "java_heap": 512}
    for name, _, _, default in rows:
        expected = defaults[name]
        if isinstance(expected, float):
            expected = int(expected)
        assert default.strip("`") == str(expected or ("false" if expected is False else "none"))


def test_the_file_of_the_documentation_is_valid(idx: Idx) -> None:
    page = (ROOT / "docs" / "configuration.md").read_text()
    examples = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    file = write("".join(examples))
    idx.setenv("HOME", "/home/me")
    values = shown(idx)
    assert values["index_path"][0] == "/home/me/search/index"
    folders, _ = values["folders"]
    assert [folder["path"] for folder in folders] == [
        "/home/me/Documents",
        str(file.parents[1] / "Work"),
    ]
