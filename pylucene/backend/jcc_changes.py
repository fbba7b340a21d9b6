"""The five changes to the code that JCC generates.

**initVM lets other Python threads run.** JCC releases the GIL in every call into Java, but not in
initVM, which first starts the JVM and then loads every class that has constants. Both take a good
part of a second, in which a program could be importing its other modules.

**A Java exception is not forgotten.** JCC prints and forgets the exception of a call that it takes
for one that nobody handles, and Python gets a `JavaError` that is empty. It counts the calls that
are handled, but does not say where the count begins, adds to it after it has released the GIL, so
that two threads may add one together, and leaves out calls that are handled, too.

**The ids of a class's methods are told when all are there.** JCC first makes room for them, then
fills it in. An object that another thread gets meanwhile takes the room for a sign that all is
done, and calls a method by an id that is not there yet, which ends the process.

**A text of any characters becomes a Python string.** To make one, JCC tells Python the greatest
character, for which it takes the bits of all of them together. Those of an emoji and of a character
of the last of Unicode's planes, where the symbols of Apple's fonts are, make a number beyond
Unicode, and Python a `SystemError` of it.

**No reference to a Java exception is left behind.** JCC asks the JVM for the exception of a call to
see whether there is one, and keeps the local reference that it gets: 3 kB for each, as long as the
thread is attached.
"""

import re
from collections.abc import Callable
from pathlib import Path

from .errors import BuildError

_START = "        if (JNI_CreateJavaVM(&vm, (void **) &vm_env, &vm_args) < 0)\n"

# Nothing between these macros touches a Python object: the options are C strings by then, and
# the JVM knows nothing of Python.
_START_RELEASED = """\
        jint created;

        Py_BEGIN_ALLOW_THREADS
        created = JNI_CreateJavaVM(&vm, (void **) &vm_env, &vm_args);
        Py_END_ALLOW_THREADS

        if (created < 0)
"""

_FORGET = """\
        if (!env->handlers)
            vm_env->ExceptionDescribe();

"""

# In each class's `initialize`; what follows the methods are its fields, if it has some.
_FILL = re.compile(r"mids\$ = new jmethodID\[max_mid\];\n(.*?)( +)class\$ = new", re.DOTALL)


def _filled_before(found: re.Match[str]) -> str:
    filled, indent = found.groups()
    return (
        "jmethodID *mids = new jmethodID[max_mid];\n"
        + filled.replace("mids$[", "mids[")
        + f"{indent}__atomic_store_n(&mids$, mids, __ATOMIC_RELEASE);\n"
        + f"{indent}class$ = new"
    )


_STRING = "    PyObject *result = PyUnicode_New(len32, max_char);\n"

_STRING_WITHIN_UNICODE = (
    "    PyObject *result = PyUnicode_New(len32, max_char > 0x10ffff ? 0x10ffff : max_char);\n"
)

_RAISE = """\
#endif

        throw _EXC_JAVA;
    }
}
"""

_RAISE_WITHOUT_REFERENCE = """\
#endif

        vm_env->DeleteLocalRef(throwable);
        throw _EXC_JAVA;
    }
}
"""

# A statement of its own in each class's `initialize`; elsewhere the call is part of another.
_LOAD = re.compile(r"^( +)(env->getClass\(\S+::initializeClass\);)$", re.MULTILINE)

# JCC's own guard, which it puts around such calls in methods; it holds to the closing brace.
_LOAD_RELEASED = r"\1{ PythonThreadState released; \2 }"


def change(folder: Path) -> None:
    """Change the C++ code that JCC has generated.

    Args:
        folder: the code, with the parts of JCC that every module gets a copy of.

    Raises:
        BuildError: the code to change is not there; nothing is known about this JCC then.
    """
    _replace(folder / "jcc.cpp", _START, _START_RELEASED, "start the JVM")
    _replace(folder / "JCCEnv.cpp", _FORGET, "", "print exceptions")
    _replace(folder / "JCCEnv.cpp", _STRING, _STRING_WITHIN_UNICODE, "make strings")
    _replace(folder / "JCCEnv.cpp", _RAISE, _RAISE_WITHOUT_REFERENCE, "raise exceptions")
    _replace_all(folder, _FILL, _filled_before, "look methods up")
    _replace_all(folder, _LOAD, _LOAD_RELEASED, "load classes")


def _replace(file: Path, old: str, new: str, does: str) -> None:
    text = file.read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise BuildError(f"this JCC does not {does} in the known way ({file.name})")
    file.write_text(text.replace(old, new), encoding="utf-8")


def _replace_all(
    folder: Path, old: re.Pattern[str], new: str | Callable[[re.Match[str]], str], does: str
) -> None:
    replaced = 0
    for wrappers in folder.glob("__wrap*.cpp"):
        text, count = old.subn(new, wrappers.read_text(encoding="utf-8"))
        wrappers.write_text(text, encoding="utf-8")
        replaced += count
    if not replaced:
        raise BuildError(f"this JCC does not {does} in the known way (__wrap*.cpp)")
