"""The changes to JCC's code: made where it is known to be right, refused elsewhere."""

from pathlib import Path

import pytest
from backend import jcc_changes
from backend.errors import BuildError

_START = "        if (JNI_CreateJavaVM(&vm, (void **) &vm_env, &vm_args) < 0)\n"
_FORGET = "        if (!env->handlers)\n            vm_env->ExceptionDescribe();\n\n"
_STRING = "    PyObject *result = PyUnicode_New(len32, max_char);\n"
_RAISE = """\
#endif

        throw _EXC_JAVA;
    }
}
"""
_FILL = """\
          mids$ = new jmethodID[max_mid];
          mids$[mid_init$_1] = env->getMethodID(cls, "<init>", "()V");
          mids$[mid_size_2] = env->getMethodID(cls, "size", "()I");

          fids$ = new jfieldID[max_fid];
          class$ = new ::java::lang::Class(cls);
          live$ = true;
        return env->callIntMethod(this$, mids$[mid_size_2]);
"""
_LOAD = "          env->getClass(BooleanClause$Occur::initializeClass);\n"
_USE = "          jclass cls = env->getClass(initializeClass);\n"


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """Code as JCC generates it, cut down to the lines that matter."""
    (tmp_path / "jcc.cpp").write_text(f"before\n{_START}after\n")
    (tmp_path / "JCCEnv.cpp").write_text(f"{_FORGET}{_STRING}{_RAISE}")
    (tmp_path / "__wrap01__.cpp").write_text(_LOAD + _USE)
    (tmp_path / "__wrap02__.cpp").write_text(_USE + _FILL + _FILL)
    return tmp_path


def test_the_jvm_starts_without_the_gil(code: Path) -> None:
    jcc_changes.change(code)
    lines = [line.strip() for line in (code / "jcc.cpp").read_text().splitlines() if line.strip()]
    assert lines == [
        "before",
        "jint created;",
        "Py_BEGIN_ALLOW_THREADS",
        "created = JNI_CreateJavaVM(&vm, (void **) &vm_env, &vm_args);",
        "Py_END_ALLOW_THREADS",
        "if (created < 0)",
        "after",
    ]


def test_classes_are_loaded_without_the_gil(code: Path) -> None:
    jcc_changes.change(code)
    call = _LOAD.strip()
    expected = f"          {{ PythonThreadState released; {call} }}\n"
    assert (code / "__wrap01__.cpp").read_text() == expected + _USE
    assert (code / "__wrap02__.cpp").read_text().startswith(_USE)


def test_no_exception_is_printed_and_forgotten(code: Path) -> None:
    jcc_changes.change(code)
    assert "ExceptionDescribe" not in (code / "JCCEnv.cpp").read_text()
    (code / "jcc.cpp").write_text(_START)
    (code / "JCCEnv.cpp").write_text("")
    with pytest.raises(BuildError, match="does not print exceptions in the known way"):
        jcc_changes.change(code)


def test_methods_are_told_when_the_ids_of_all_are_there(code: Path) -> None:
    jcc_changes.change(code)
    changed = """\
          jmethodID *mids = new jmethodID[max_mid];
          mids[mid_init$_1] = env->getMethodID(cls, "<init>", "()V");
          mids[mid_size_2] = env->getMethodID(cls, "size", "()I");

          fids$ = new jfieldID[max_fid];
          __atomic_store_n(&mids$, mids, __ATOMIC_RELEASE);
          class$ = new ::java::lang::Class(cls);
          live$ = true;
        return env->callIntMethod(this$, mids$[mid_size_2]);
"""
    assert (code / "__wrap02__.cpp").read_text() == _USE + changed + changed


def test_a_jcc_that_looks_methods_up_otherwise_is_refused(code: Path) -> None:
    (code / "__wrap02__.cpp").write_text(_USE)
    with pytest.raises(BuildError, match="does not look methods up in the known way"):
        jcc_changes.change(code)


def test_an_exception_leaves_no_reference_behind(code: Path) -> None:
    jcc_changes.change(code)
    before_it_is_raised = "vm_env->DeleteLocalRef(throwable);\n        throw _EXC_JAVA;\n"
    assert before_it_is_raised in (code / "JCCEnv.cpp").read_text()


def test_no_greatest_character_is_beyond_unicode(code: Path) -> None:
    jcc_changes.change(code)
    made = "PyUnicode_New(len32, max_char > 0x10ffff ? 0x10ffff : max_char);"
    assert made in (code / "JCCEnv.cpp").read_text()
    (code / "jcc.cpp").write_text(_START)
    (code / "JCCEnv.cpp").write_text(_FORGET)
    with pytest.raises(BuildError, match="does not make strings in the known way"):
        jcc_changes.change(code)


@pytest.mark.parametrize("text", ["", _START * 2, _START.replace("&vm_args", "&arguments")])
def test_a_jcc_that_starts_the_jvm_otherwise_is_refused(code: Path, text: str) -> None:
    (code / "jcc.cpp").write_text(text)
    with pytest.raises(BuildError, match="does not start the JVM in the known way"):
        jcc_changes.change(code)


def test_a_jcc_that_loads_classes_otherwise_is_refused(code: Path) -> None:
    (code / "__wrap01__.cpp").write_text(_USE)
    with pytest.raises(BuildError, match="does not load classes in the known way"):
        jcc_changes.change(code)
