"""Changes to the way texts cross between Python and Java.

JCC reads and writes the characters of a Python string in place, which the stable ABI does not
allow. Texts cross as UTF-16 instead, by functions of CPython.

With that, a text of any characters becomes a Python string. To make one, JCC tells Python the
greatest character, for which it takes the bits of all of them together. Those of an emoji and of a
character of the last of Unicode's planes, where the symbols of Apple's fonts are, make a number
beyond Unicode, and Python a `SystemError` of it. Surrogates without their other half pass through
in every text, where JCC replaces those that stand beside an emoji.
"""

import re
from pathlib import Path

from .replacing import replace, replace_all

_CHARACTER = """\
    PyObject *result = PyUnicode_New(1, c);

    PyUnicode_WriteChar(result, 0, c);
    return result;
"""

_TO_JAVA = re.compile(
    r"    if \(PyUnicode_Check\(object\)\)\n    \{\n        PyUnicode_READY.*?\n    \}\n"
    r"(?=    else if \(PyBytes_Check\(object\)\))",
    re.DOTALL,
)

_TO_JAVA_AS_UTF16 = """\
    if (PyUnicode_Check(object))
    {
        Utf16 text(object);

        if (text.units == NULL)
            return NULL;
        return get_vm_env()->NewString(text.units, (jsize) text.length);
    }
"""

_TO_PYTHON = re.compile(
    r"(PyObject \*JCCEnv::fromJChars\(const jchar \*utf16, jsize len16\) const\n\{\n).*?\n\}\n",
    re.DOTALL,
)

# A byte order must be given: without one a text may begin with a mark of it, which is lost.
_TO_PYTHON_AS_UTF16 = r"""\1    int byteorder = -1;

    return PyUnicode_DecodeUTF16((const char *) utf16, 2 * (Py_ssize_t) len16,
                                 "surrogatepass", &byteorder);
}
"""

_LENGTH_OF_CHARS = re.compile(
    r"        if \(PyUnicode_Check\(sequence\)\)\n        \{\n"
    r"            PyUnicode_READY.*?\n        \}\n"
    r"(?=\n        return PySequence_Length)",
    re.DOTALL,
)

_LENGTH_AS_UTF16 = """\
        if (PyUnicode_Check(sequence))
            return (jsize) Utf16(sequence).length;
"""

_CHARS = re.compile(
    r"        if \(PyUnicode_Check\(sequence\)\)\n        \{\n            switch .*?\n        \}\n"
    r"(?=        else\n)",
    re.DOTALL,
)

_CHARS_AS_UTF16 = """\
        if (PyUnicode_Check(sequence))
        {
            Utf16 text(sequence);

            if (text.units != NULL)
                memcpy(buf, text.units, length * sizeof(jchar));
        }
"""


def change(folder: Path) -> None:
    """Change JCC's runtime; `stable_abi.h` has the class that the new code uses."""
    does = "make strings"
    one = "    return env->fromJChars(&c, 1);\n"
    replace(folder / "functions.cpp", _CHARACTER, one, does)
    replace_all(folder, "JCCEnv.cpp", _TO_JAVA, _TO_JAVA_AS_UTF16, does)
    replace_all(folder, "JCCEnv.cpp", _TO_PYTHON, _TO_PYTHON_AS_UTF16, does)
    replace_all(folder, "JArray.h", _LENGTH_OF_CHARS, _LENGTH_AS_UTF16, does)
    replace_all(folder, "JArray.h", _CHARS, _CHARS_AS_UTF16, does)
