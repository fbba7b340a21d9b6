"""Requirements of the machine: each one that is missing is named, with the way to get it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from backend import platforms
from backend.console import BuildError, run


def test_neither_compiler_nor_headers_are_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sysconfig.get_path", lambda *_arguments, **_options: str(tmp_path))
    platforms.require_tools()


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("importlib.util.find_spec", lambda _name: None, "ensurepip.*apt install python3-venv"),
        (
            "sysconfig.get_config_var",
            {"Py_GIL_DISABLED": 1}.get,
            "needs a Python with the global interpreter lock.*; there are wheels",
        ),
        ("sys.platform", "darwin", "on Linux only, not on darwin: build a wheel there"),
        ("sys.platform", "win32", "on Linux only, not on win32: build a wheel there.*; there are"),
        ("os.confstr_names", {}, "needs Linux with glibc: .* no wheel for musl; there are wheels"),
        (
            "os.confstr",
            lambda _name: "glibc 2.12",
            r"newer Linux than one with glibc 2\.12; there are wheels",
        ),
        ("sys.maxsize", 2**31 - 1, "not run in a Python of 32 bits; there are wheels"),
        ("sys.implementation.name", "pypy", "not run on pypy; there are wheels for CPython"),
        ("platform.machine", lambda: "riscv64", "cannot run on a riscv64 processor; there are"),
    ],
)
def test_a_machine_that_lacks_something_is_told(
    monkeypatch: pytest.MonkeyPatch, name: str, value: object, reason: str
) -> None:
    monkeypatch.setattr(name, value)
    with pytest.raises(BuildError, match=f"PyLucene .*{reason}"):
        platforms.require_tools()


def test_windows_on_arm_is_told_which_python_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setattr("platform.machine", lambda: "ARM64")
    with pytest.raises(BuildError, match="install Python for x86_64, which Windows on Arm runs"):
        platforms.require_tools()


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_platform_of_this_machine_is_that_of_its_processor(
    monkeypatch: pytest.MonkeyPatch, machine: str
) -> None:
    monkeypatch.setattr("platform.machine", lambda: machine)
    assert platforms.here().tag == f"manylinux_2_17_{machine}"


def test_each_platform_has_a_java_runtime(pylucene: Path) -> None:
    pinned = (pylucene / "requirements" / "java.txt").read_text()
    assert pinned.count("--hash=") == len(platforms.PLATFORMS)


def test_each_tag_is_one_that_pip_knows() -> None:
    script = (
        "import sys; from pip._internal.utils.compatibility_tags import get_supported\n"
        "for tag in sys.argv[1:]: print(*get_supported(platforms=[tag]))"
    )
    tags = [known.tag for known in platforms.PLATFORMS]
    asked = (sys.executable, "-c", script, *tags)
    shown = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines()
    for tag, known in zip(tags, shown, strict=True):
        assert f"cp311-abi3-{tag}" in known.split()


_PRINT = "import json, os, sys; json.dump(dict(os.environ), open(sys.argv[1], 'w'))"


def test_programs_do_not_obey_what_the_user_has_set_for_other_builds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dropped = ("PYTHONPATH", "CPATH", "PIP_USER", "PIP_TARGET", "PIP_ONLY_BINARY", "PIP_ROOT")
    for name in dropped:
        monkeypatch.setenv(name, "1")
    # Where packages come from is the user's to say.
    monkeypatch.setenv("PIP_INDEX_URL", "file:///packages")
    run((sys.executable, "-c", _PRINT, tmp_path / "seen"), "failed", environ={"CPATH": "/own"})
    seen = json.loads((tmp_path / "seen").read_text())
    assert seen["PIP_INDEX_URL"] == "file:///packages"
    assert {name: seen[name] for name in dropped if name in seen} == {"CPATH": "/own"}


def test_a_program_that_fails_ends_the_build() -> None:
    with pytest.raises(BuildError, match="it did not work"):
        run((sys.executable, "-c", "raise SystemExit(3)"), "it did not work")
