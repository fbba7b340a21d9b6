"""The changes to JCC's code: other Python threads run while `lucene.initVM()` works, and the
count of calls that handle Java exceptions begins at zero.

JCC releases the GIL in every call into Java, but not in initVM, which first starts the JVM and
then loads every class that has constants. Both take a good part of a second, in which a program
could be importing its other modules.

JCC never sets that count. Where the memory happens to hold -1, it prints the Java exception of a
call and forgets it, and Python gets a `JavaError` that is empty.
"""

import re
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

_CONSTRUCTOR = "JCCEnv::JCCEnv(JavaVM *vm, JNIEnv *vm_env)\n{\n"

# A statement of its own in each class's `initialize`; elsewhere the call is part of another.
_LOAD = re.compile(r"^( +)(env->getClass\(\S+::initializeClass\);)$", re.MULTILINE)

# JCC's own guard, which it puts around such calls in methods; it holds to the closing brace.
_LOAD_RELEASED = r"\1{ PythonThreadState released; \2 }"


def release(folder: Path) -> None:
    """Change the C++ code that JCC has generated.

    Args:
        folder: the code, with the parts of JCC that every module gets a copy of.

    Raises:
        BuildError: the code to change is not there; nothing is known about this JCC then.
    """
    start = folder / "jcc.cpp"
    text = start.read_text(encoding="utf-8")
    if text.count(_START) != 1:
        raise BuildError("this JCC does not start the JVM in the known way (jcc.cpp)")
    start.write_text(text.replace(_START, _START_RELEASED), encoding="utf-8")
    environment = folder / "JCCEnv.cpp"
    text = environment.read_text(encoding="utf-8")
    if text.count(_CONSTRUCTOR) != 1:
        raise BuildError("this JCC does not make its environment in the known way (JCCEnv.cpp)")
    text = text.replace(_CONSTRUCTOR, f"{_CONSTRUCTOR}    handlers = 0;\n")
    environment.write_text(text, encoding="utf-8")
    loads = 0
    for wrappers in folder.glob("__wrap*.cpp"):
        text, found = _LOAD.subn(_LOAD_RELEASED, wrappers.read_text(encoding="utf-8"))
        wrappers.write_text(text, encoding="utf-8")
        loads += found
    if not loads:
        raise BuildError("this JCC does not load classes in the known way (__wrap*.cpp)")
