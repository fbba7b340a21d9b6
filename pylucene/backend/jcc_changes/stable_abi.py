"""Changes that keep JCC's code within CPython's stable ABI.

One wheel then serves every CPython from 3.11 on. Most of what JCC uses beyond the stable ABI are
macros, for which `stable_abi.h` has functions of the same names. What is left, and changed here, is
access to the members of types, functions and tuples, and five static types, which become types that
are made at run time.
"""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from .replacing import replace, replace_all

HEADER = Path(__file__).with_name("stable_abi.h")

# The definition of a static type, and of what its members point to. JCC names each member in a
# comment behind it.
_TYPE = re.compile(
    r"static PyTypeObject (?P<name>\w+)_type = \{\n    PyVarObject_HEAD_INIT\(NULL, 0\)\n"
    r"(?P<members>.*?)\n\};\n",
    re.DOTALL,
)
_MEMBER = re.compile(r"\s*(?P<value>.+?),\s*/\* *(?P<name>\w+) *\*/", re.DOTALL)
_PROTOCOL = re.compile(
    r"static Py(?:Mapping|Sequence)Methods (?P<name>\w+) = \{\n(?P<members>.*?)\n\};\n\n",
    re.DOTALL,
)
_POINTER = re.compile(r"PyTypeObject \*PY_TYPE\((\w+)\) = &\1_type;")
_TYPES = ("JCCEnv", "JObject", "FinalizerClass", "FinalizerProxy", "ConstVariableDescriptor")

# The members that are in the specification of a type itself, and not among its slots.
_SPECIFIED = {"tp_name", "tp_basicsize", "tp_itemsize", "tp_flags"}

_INSTALL = """\
    if (PyType_Ready(PY_TYPE(name)) == 0)                               \\
    {                                                                   \\
        Py_INCREF(PY_TYPE(name));                                       \\
        PyModule_AddObject(module, #name, (PyObject *) PY_TYPE(name));  \\
    }
"""

_INSTALL_FROM_SPEC = """\
    PY_TYPE(name) = (PyTypeObject *) PyType_FromSpec(&PY_TYPE_SPEC(name)); \\
    if (PY_TYPE(name) != NULL)                                             \\
        PyModule_AddObjectRef(module, #name, (PyObject *) PY_TYPE(name))

#define PY_TYPE_SPEC(name) name##$$TypeSpec
"""

_PARSE = """\
    _parseArgs(((PyTupleObject *)(args))->ob_item, \\
               ((PyTupleObject *)(args))->ob_base.ob_size, types, ##rest)
"""
_PARSE_ONE = "    _parseArgs(&(arg), 1, types, ##rest)\n"
_PARSING = "int _parseArgs(PyObject **args, unsigned int count, char *types, ...)"
_PARSING_GIVEN = "int _parseArgs(PyObject *given, bool tuple, char *types, ...)"
_ITEMS = """
{
    Arguments arguments(given, tuple);
    PyObject **args = arguments.items;
    unsigned int count = arguments.count;
"""

# Python has been setting it to the module since 3.0.
_SET_SELF = """\
    PyCFunctionObject *cfn = (PyCFunctionObject *) object;

    Py_INCREF(module);
    Py_XDECREF(cfn->m_self);
    cfn->m_self = module;

"""

_ALLOCATE = re.compile(r"\b(PY_TYPE\(\w+\)|type)->tp_alloc\(\1, 0\)")
_FREE = "self->ob_base.ob_type->tp_free((PyObject *) self);"
_SET_IN_TYPE = re.compile(r"PyDict_SetItemString\((\S+)->tp_dict,")
_IN_PLACE = re.compile(
    r"    if \(list != NULL &&\n"
    r"        PyList_Type\.tp_as_sequence->sq_inplace_(concat|repeat)\(list, (\w+)\) == NULL\)\n"
    r"    \{\n        Py_DECREF\(list\);\n        return NULL;\n    \}\n\n    return list;\n"
)


def change(folder: Path) -> None:
    """Change JCC's runtime, and put the header that all its code needs beside it."""
    shutil.copyfile(HEADER, folder / HEADER.name)
    _change_types(folder)
    _change_parsing(folder)

    does = "call types"
    call = "((ternaryfunc) PyType_GetSlot(&PyType_Type, Py_tp_call))(self"
    replace(folder / "types.cpp", "PyType_Type.tp_call(self", call, does)
    text = "self->ob_base.ob_type->tp_str((PyObject *) self)"
    replace(folder / "JObject.cpp", text, "PyObject_Str((PyObject *) self)", does)
    base = "PyType_GetSlot(type, Py_tp_base)"
    replace(folder / "functions.cpp", "(PyObject *) type->tp_base", f"(PyObject *) {base}", does)
    replace(folder / "functions.cpp", _SET_SELF, "", "set the module of functions")

    replace_all(folder, "*.cpp", _ALLOCATE, r"PyType_GenericAlloc(\1, 0)", "make instances")
    as_attribute = r"PyObject_SetAttrString((PyObject *) \1,"
    replace_all(folder, "*.cpp", _SET_IN_TYPE, as_attribute, "set attributes of types")
    replace_all(folder, "JArray.cpp", _IN_PLACE, _in_place, "join lists")

    # The arrays, types made at run time from the first, release their type themselves.
    free = re.compile(re.escape(_FREE))
    does = "free instances"
    replace_all(folder, "JArray.cpp", free, "free_memory((PyObject *) self);", does)
    for name in ("jcc.cpp", "JObject.cpp", "types.cpp"):
        replace_all(folder, name, free, "free_instance((PyObject *) self);", does)


def export(file: Path, module: str) -> None:
    """Export the function that Python calls to import a module, when nothing else is exported."""
    function = f"PyInit_{module}(void)"
    replace(file, f"PyObject *{function}", f"PyMODINIT_FUNC {function}", "export the module")


def _change_types(folder: Path) -> None:
    does = "define types"
    size = "PyType_Type.tp_basicsize,"
    replace(folder / "types.cpp", size, size.replace("PyType_Type.tp_basicsize", "0"), does)
    visit = "    Py_VISIT(self->object);\n"
    replace(folder / "types.cpp", visit, f"{visit}    Py_VISIT(Py_TYPE(self));\n", does)

    methods = {
        found["name"]: list(_members(found["members"]))
        for found in _PROTOCOL.finditer((folder / "types.cpp").read_text(encoding="utf-8"))
    }

    def from_spec(found: re.Match[str]) -> str:
        members = dict(_members(found["members"]))
        slots = []
        for name, value in members.items():
            if name not in _SPECIFIED:
                slots += methods.get(value.removeprefix("&"), [(name, value)])
        flags = members["tp_flags"]
        if not {"tp_new", "tp_base"} & members.keys():
            # What a static type is without asking for it.
            flags = f"{flags} | Py_TPFLAGS_DISALLOW_INSTANTIATION"
        lines = "".join(f"    {{ Py_{name}, (void *) {value} }},\n" for name, value in slots)
        return (
            f"static PyType_Slot {found['name']}_slots[] = {{\n{lines}    {{ 0, NULL }}\n}};\n\n"
            f"PyType_Spec PY_TYPE_SPEC({found['name']}) = {{\n    {members['tp_name']},\n"
            f"    {members.get('tp_basicsize', '0')},\n    0,\n    {flags},\n"
            f"    {found['name']}_slots\n}};\n"
        )

    for name in ("jcc.cpp", "JObject.cpp", "types.cpp"):
        replace_all(folder, name, _TYPE, from_spec, does)
        replace_all(folder, name, _POINTER, r"PyTypeObject *PY_TYPE(\1) = NULL;", does)
    replace_all(folder, "types.cpp", _PROTOCOL, "", does)
    specs = "".join(f"extern PyType_Spec PY_TYPE_SPEC({name});\n" for name in _TYPES)
    replace(folder / "macros.h", _INSTALL, _INSTALL_FROM_SPEC + specs, "install types")


def _members(text: str) -> Iterator[tuple[str, str]]:
    """The members of a static struct that are set, with their values."""
    for found in _MEMBER.finditer(text):
        if found["value"] != "0":
            yield found["name"], found["value"]


def _change_parsing(folder: Path) -> None:
    does = "parse arguments"
    header, code = folder / "functions.h", folder / "functions.cpp"
    replace(header, _PARSE, "    _parseArgs(args, true, types, ##rest)\n", does)
    replace(header, _PARSE_ONE, "    _parseArgs(arg, false, types, ##rest)\n", does)
    replace(header, f"{_PARSING};", f"{_PARSING_GIVEN};", does)
    replace(code, f"{_PARSING}\n{{\n", f"{_PARSING_GIVEN}{_ITEMS}", does)


def _in_place(found: re.Match[str]) -> str:
    operation, operand = found.groups()
    return (
        "    if (list == NULL)\n        return NULL;\n\n"
        f"    PyObject *result = PySequence_InPlace{operation.title()}(list, {operand});\n\n"
        "    Py_DECREF(list);\n    return result;\n"
    )
